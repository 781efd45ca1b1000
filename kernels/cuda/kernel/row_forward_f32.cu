#include "kernels/cuda/kernel/row_forward_launch.cuh"

namespace normd::cuda {

cudaError_t LaunchRowForwardFloat32(const KernelKey& key,
                                    const TableLaunch<ForwardSegment>& launch) {
  return DispatchRowForward<float>(key, launch);
}

}  // namespace normd::cuda
