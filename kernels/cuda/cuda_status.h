// The one conversion from CUDA errors to Status.
#ifndef NORMD_KERNELS_CUDA_CUDA_STATUS_H_
#define NORMD_KERNELS_CUDA_CUDA_STATUS_H_

#include <cuda_runtime_api.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace normd::cuda {

// Whether the context is lost: every later call on the device reports the same error.
bool IsSticky(cudaError_t error);

// OK; RESOURCE_EXHAUSTED for memory that is not there; UNAVAILABLE for a device that is lost;
// UNIMPLEMENTED for a kernel that does not exist; INTERNAL for the rest. "<what>: <CUDA's text>".
// Errors that are not sticky are also cleared, so that they do not show up in a later call.
absl::Status ToStatus(cudaError_t error, absl::string_view what);

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_CUDA_STATUS_H_
