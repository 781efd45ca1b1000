// The row families by dtype: each is compiled in a file of its own.
#include "kernels/cuda/row_launch.h"

#include "kernels/cuda/launch.h"

namespace normd::cuda {

cudaError_t LaunchRowForward(DataType dtype, const KernelKey& key,
                             const TableLaunch<ForwardSegment>& launch) {
  switch (dtype) {
    case DataType::kFloat32:
      return LaunchRowForwardFloat32(key, launch);
    case DataType::kFloat16:
      return LaunchRowForwardFloat16(key, launch);
    case DataType::kBFloat16:
      return LaunchRowForwardBFloat16(key, launch);
  }
  return cudaErrorNotSupported;
}

cudaError_t LaunchRowBackward(DataType dtype, const KernelKey& key,
                              const TableLaunch<BackwardSegment>& launch) {
  switch (dtype) {
    case DataType::kFloat32:
      return LaunchRowBackwardFloat32(key, launch);
    case DataType::kFloat16:
      return LaunchRowBackwardFloat16(key, launch);
    case DataType::kBFloat16:
      return LaunchRowBackwardBFloat16(key, launch);
  }
  return cudaErrorNotSupported;
}

}  // namespace normd::cuda
