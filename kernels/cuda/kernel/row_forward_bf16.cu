#include "kernels/cuda/kernel/row_forward_launch.cuh"

namespace normd::cuda {

cudaError_t LaunchRowForwardBFloat16(const KernelKey& key,
                                     const TableLaunch<ForwardSegment>& launch) {
  return DispatchRowForward<__nv_bfloat16>(key, launch);
}

}  // namespace normd::cuda
