// The second stage of dweight and dbias: adds the partial rows of a segment in fixed order.
#include "kernels/cuda/kernel/dispatch.cuh"
#include "kernels/cuda/kernel/typed_access.cuh"
#include "kernels/cuda/launch.h"

namespace normd::cuda {
namespace {

// A block takes 32 columns of one gradient. Warp w adds the partial rows w, w + 32, ... of them;
// then the 32 sums of a column are added as a tree.
constexpr int kColumns = 32;
constexpr int kWarps = 32;

// Both gradients of every segment of the largest table.
constexpr int kSums = 2 * kLargeTable;

template <int kCapacity>
__global__ void __launch_bounds__(kColumns* kWarps)
    SumPartialsKernel(const __grid_constant__ SegmentTable<SumSegment, kCapacity> table) {
  const SumSegment& segment = table.segments[blockIdx.y];
  const int width = table.header.width;
  const int lane = static_cast<int>(threadIdx.x);
  const int warp = static_cast<int>(threadIdx.y);
  const int column = static_cast<int>(blockIdx.x) * kColumns + lane;
  __shared__ float sums[kWarps][kColumns + 1];
  float sum = 0.0f;
  if (column < width) {
    const float* partial = segment.partials + column;
#pragma unroll 8
    for (int strip = warp; strip < segment.strips; strip += kWarps) {
      sum += partial[int64_t{strip} * width];
    }
  }
  sums[warp][lane] = sum;
  __syncthreads();
  float total[1] = {sums[lane][warp]};
  ReduceLanes<Add>(kWarp, total);
  const int own = static_cast<int>(blockIdx.x) * kColumns + warp;
  if (lane == 0 && own < width) StoreElement(segment.output, segment.dtype, own, total[0]);
}

template <int kCapacity>
cudaError_t Start(const TableLaunch<SumSegment>& launch) {
  SegmentTable<SumSegment, kCapacity> table;
  table.header = *launch.header;
  table.count = launch.count;
  std::copy_n(launch.segments, launch.count, table.segments);
  const auto tiles = static_cast<unsigned>((launch.header->width + kColumns - 1) / kColumns);
  void* arguments[] = {&table};
  return cudaLaunchKernel(reinterpret_cast<const void*>(SumPartialsKernel<kCapacity>),
                          dim3(tiles, static_cast<unsigned>(launch.count)), dim3(kColumns, kWarps),
                          arguments, 0, launch.stream);
}

}  // namespace

cudaError_t LaunchSumPartials(const TableLaunch<SumSegment>& launch) {
  if (launch.count <= 2 * kSmallTable) return Start<2 * kSmallTable>(launch);
  if (launch.count <= 2 * kMediumTable) return Start<2 * kMediumTable>(launch);
  if (launch.count <= kSums) return Start<kSums>(launch);
  return cudaErrorNotSupported;
}

cudaError_t CheckKernelImage() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes,
                               reinterpret_cast<const void*>(SumPartialsKernel<kSums>));
}

}  // namespace normd::cuda
