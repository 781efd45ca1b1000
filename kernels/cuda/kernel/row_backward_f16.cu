#include "kernels/cuda/kernel/row_backward_launch.cuh"

namespace normd::cuda {

cudaError_t LaunchRowBackwardFloat16(const KernelKey& key,
                                     const TableLaunch<BackwardSegment>& launch) {
  return DispatchRowBackward<__half>(key, launch);
}

}  // namespace normd::cuda
