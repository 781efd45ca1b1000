// Plan: which kernel runs a NormSpec, and with what constants. Pure functions of the spec and of
// one segment's rows: never of the device, of the grid or of other segments, because the order of
// every sum follows from the plan, and a segment has the same bits wherever and with whomever it
// runs. Thread-safe.
//
// Where the constants come from: kernels/cuda/README.md.
#ifndef NORMD_KERNELS_CUDA_PLAN_H_
#define NORMD_KERNELS_CUDA_PLAN_H_

#include <cstdint>

#include "kernels/cuda/kernel_shape.h"
#include "kernels/cuda/segment_table.h"
#include "kernels/norm_spec.h"

namespace normd::cuda {

struct Plan {
  Family family = Family::kStreaming;
  const char* kernel = "";            // static name, for replies and metrics
  RowShape shape = RowShape::kTile1;  // row families
  bool block_team = false;            // streaming: a block works on a row, not some lanes
  int threads = 0;                    // a block
  Geometry geometry = {};
  // Rows a block takes in one step; steps are dealt to the strips of a segment in turn.
  int64_t rows_per_step = 1;
  // Strips that a segment is cut into at most.
  int64_t max_strips = 1;
  // Columns of one access when everything is aligned; a group must be a multiple of it for that.
  int vector = 1;
  bool full = false;  // see LaunchHeader
};

// REQUIRES: Validate(spec).ok()
Plan MakePlan(const NormSpec& spec);

// The second pass of a streaming backward; MakePlan gives the first.
// REQUIRES: Validate(spec).ok(), direction backward, MakePlan(spec).family is kStreaming
Plan MakeApplyPlan(const NormSpec& spec);

// The instantiation that a plan runs.
KernelKey KeyOf(const NormSpec& spec, const Plan& plan);

// Strips that `rows` rows are cut into: 0 for no rows, else 1 to plan.max_strips.
int32_t StripsOf(const Plan& plan, int64_t rows);

// Segments that one launch takes.
int MaxSegments(const Plan& plan);

// Blocks that one strip takes.
int64_t BlocksPerStrip(const Plan& plan);

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_PLAN_H_
