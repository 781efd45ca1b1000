// Scratch of a backward launch: where in it each segment keeps its partial rows and row sums.
// Pure functions; thread-safe.
#ifndef NORMD_KERNELS_CUDA_BACKWARD_SCRATCH_H_
#define NORMD_KERNELS_CUDA_BACKWARD_SCRATCH_H_

#include <cstdint>

#include "absl/types/span.h"
#include "kernels/cuda/plan.h"
#include "kernels/norm_spec.h"
#include "kernels/segment.h"

namespace normd::cuda {

// Bytes; both parts start at multiples of 256.
struct SegmentScratch {
  int64_t partials = 0;  // [wanted of dweight, dbias][strips][width] floats
  int64_t sums = 0;      // [rows, groups] of kRowSumsBytes, streaming only

  int64_t total() const { return partials + sums; }
};

// `partials_plan` is the plan whose strips leave partial rows.
SegmentScratch ScratchOf(const NormSpec& spec, const Plan& partials_plan, int64_t rows);

// Segments are run in batches that share the scratch one after the other. A batch ends before
// kMaxBatchScratch bytes, unless one segment alone needs more, and at kLargeTable segments.
inline constexpr int64_t kMaxBatchScratch = int64_t{256} << 20;

// Of the batch at the front of `segments`, which is not empty.
struct Batch {
  int count = 0;
  int64_t scratch_bytes = 0;
};
Batch NextBatch(const NormSpec& spec, const Plan& partials_plan,
                absl::Span<const Segment> segments);

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_BACKWARD_SCRATCH_H_
