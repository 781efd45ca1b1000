// From the seam's Segment to the tables that kernels read. Pure functions; thread-safe.
#ifndef NORMD_KERNELS_CUDA_ENCODE_H_
#define NORMD_KERNELS_CUDA_ENCODE_H_

#include "kernels/cuda/plan.h"
#include "kernels/cuda/segment_table.h"
#include "kernels/norm_spec.h"
#include "kernels/segment.h"

namespace normd::cuda {

LaunchHeader EncodeHeader(const NormSpec& spec, const Plan& plan);

ForwardSegment EncodeForward(const NormSpec& spec, const Plan& plan, const Segment& segment);

// Without its scratch: partials and sums are null.
BackwardSegment EncodeBackward(const NormSpec& spec, const Plan& plan, const Segment& segment);

// Whether every row operand can be moved 16 bytes at a time: its address and, with more than one
// row, its stride; and the width of a group.
bool AlignedRows(const NormSpec& spec, const Plan& plan, const Segment& segment);

// The same of weight and bias.
bool AlignedParameters(const NormSpec& spec, const Plan& plan, const Segment& segment);

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_ENCODE_H_
