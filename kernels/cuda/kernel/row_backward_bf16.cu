#include "kernels/cuda/kernel/row_backward_launch.cuh"

namespace normd::cuda {

cudaError_t LaunchRowBackwardBFloat16(const KernelKey& key,
                                      const TableLaunch<BackwardSegment>& launch) {
  return DispatchRowBackward<__nv_bfloat16>(key, launch);
}

}  // namespace normd::cuda
