// The ops of the CUDA backend: from a spec and its segments to the launches of its plan.
#ifndef NORMD_KERNELS_CUDA_OP_H_
#define NORMD_KERNELS_CUDA_OP_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/backend.h"
#include "kernels/cuda/cuda_stream.h"
#include "kernels/norm_spec.h"
#include "kernels/segment.h"

namespace normd::cuda {

// Backend::Forward and Backend::Backward.
// REQUIRES: as there, and the stream's device is the current one of the thread
absl::StatusOr<LaunchInfo> RunForward(const NormSpec& spec, absl::Span<const Segment> segments,
                                      CudaStream& stream);
absl::StatusOr<LaunchInfo> RunBackward(const NormSpec& spec, absl::Span<const Segment> segments,
                                       CudaStream& stream);

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_OP_H_
