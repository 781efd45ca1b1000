// Starts kernels. Plain C++ on this side, one .cu file a family on the other; all calls enqueue
// and return, and report what the CUDA runtime said.
#ifndef NORMD_KERNELS_CUDA_LAUNCH_H_
#define NORMD_KERNELS_CUDA_LAUNCH_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/kernel_shape.h"
#include "kernels/cuda/segment_table.h"

namespace normd::cuda {

// One launch, whatever the size of the table that it will be copied into.
template <typename Segment>
struct TableLaunch {
  const LaunchHeader* header = nullptr;
  const Segment* segments = nullptr;
  const uint32_t* first_tile = nullptr;
  int count = 0;
  uint32_t blocks = 0;
  int threads = 0;
  cudaStream_t stream = nullptr;
};

cudaError_t LaunchRowForward(DataType dtype, const KernelKey& key,
                             const TableLaunch<ForwardSegment>& launch);
cudaError_t LaunchRowBackward(DataType dtype, const KernelKey& key,
                              const TableLaunch<BackwardSegment>& launch);
cudaError_t LaunchStreamingForward(const KernelKey& key, const TableLaunch<ForwardSegment>& launch);
// Writes BackwardSegment::sums.
cudaError_t LaunchStreamingSums(const KernelKey& key, const TableLaunch<BackwardSegment>& launch);
// Reads them.
cudaError_t LaunchStreamingApply(const KernelKey& key, const TableLaunch<BackwardSegment>& launch);
// Adds the partial rows of each segment; no strips: zeros. `blocks` and `first_tile` are not used.
cudaError_t LaunchSumPartials(const TableLaunch<SumSegment>& launch);

// Whether the binary has code for the current device.
cudaError_t CheckKernelImage();

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_LAUNCH_H_
