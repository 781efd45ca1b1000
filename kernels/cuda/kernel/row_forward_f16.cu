#include "kernels/cuda/kernel/row_forward_launch.cuh"

namespace normd::cuda {

cudaError_t LaunchRowForwardFloat16(const KernelKey& key,
                                    const TableLaunch<ForwardSegment>& launch) {
  return DispatchRowForward<__half>(key, launch);
}

}  // namespace normd::cuda
