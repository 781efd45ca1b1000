// The row families, one function a dtype; launch.h has the functions to call.
#ifndef NORMD_KERNELS_CUDA_ROW_LAUNCH_H_
#define NORMD_KERNELS_CUDA_ROW_LAUNCH_H_

#include "kernels/cuda/launch.h"

namespace normd::cuda {

cudaError_t LaunchRowForwardFloat32(const KernelKey&, const TableLaunch<ForwardSegment>&);
cudaError_t LaunchRowForwardFloat16(const KernelKey&, const TableLaunch<ForwardSegment>&);
cudaError_t LaunchRowForwardBFloat16(const KernelKey&, const TableLaunch<ForwardSegment>&);
cudaError_t LaunchRowBackwardFloat32(const KernelKey&, const TableLaunch<BackwardSegment>&);
cudaError_t LaunchRowBackwardFloat16(const KernelKey&, const TableLaunch<BackwardSegment>&);
cudaError_t LaunchRowBackwardBFloat16(const KernelKey&, const TableLaunch<BackwardSegment>&);

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_ROW_LAUNCH_H_
