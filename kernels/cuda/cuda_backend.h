// The CUDA backend: one GPU behind the seam of kernels/backend.h.
#ifndef NORMD_KERNELS_CUDA_CUDA_BACKEND_H_
#define NORMD_KERNELS_CUDA_CUDA_BACKEND_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/backend.h"

namespace normd {

// GPUs that the process can use; 0 without a driver or a GPU. Waits for the driver.
int CudaDeviceCount();

// NOT_FOUND when there is no such device. Makes a context; takes up to seconds.
absl::StatusOr<std::unique_ptr<Backend>> NewCudaBackend(int ordinal);

}  // namespace normd

#endif  // NORMD_KERNELS_CUDA_CUDA_BACKEND_H_
