#include "kernels/cuda/kernel/row_backward_launch.cuh"

namespace normd::cuda {

cudaError_t LaunchRowBackwardFloat32(const KernelKey& key,
                                     const TableLaunch<BackwardSegment>& launch) {
  return DispatchRowBackward<float>(key, launch);
}

}  // namespace normd::cuda
