// Chooses the row forward kernel of one dtype; each dtype is compiled in a file of its own.
#ifndef NORMD_KERNELS_CUDA_KERNEL_ROW_FORWARD_LAUNCH_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_ROW_FORWARD_LAUNCH_CUH_

#include <type_traits>

#include "kernels/cuda/kernel/dispatch.cuh"
#include "kernels/cuda/kernel/row_forward.cuh"
#include "kernels/cuda/row_launch.h"

namespace normd::cuda {

template <typename T, typename Norm, typename Gate, RowShape kShape, int kCapacity>
cudaError_t StartRowForward(const TableLaunch<ForwardSegment>& launch) {
  constexpr int kChunks = ChunksOf(kShape);
  constexpr bool kTile = IsTile(kShape);
  using Team = std::conditional_t<kTile, WarpTeam, BlockTeam>;
  constexpr int kRows = kTile ? ForwardShape::RowsInFlight(kFormOf<Gate>, kChunks) : 1;
  constexpr int kThreads = kTile ? ForwardShape::kMaxTileThreads : ForwardShape::kMaxBlockThreads;
  return StartKernel(RowForwardKernel<T, Norm, Gate, Team, kChunks, kRows, kThreads, kCapacity>,
                     launch);
}

template <typename T>
cudaError_t DispatchRowForward(const KernelKey& key, const TableLaunch<ForwardSegment>& launch) {
  return DispatchNorm(key.norm, [&]<typename Norm>(Type<Norm>) {
    return DispatchGate(key.gate, [&]<typename Gate>(Type<Gate>) {
      return DispatchForwardShape(key.shape, [&]<RowShape kShape>(Shape<kShape>) {
        if constexpr (kShape == RowShape::kTile1) {
          if (launch.count <= kSmallTable) {
            return StartRowForward<T, Norm, Gate, kShape, kSmallTable>(launch);
          }
          if (launch.count <= kMediumTable) {
            return StartRowForward<T, Norm, Gate, kShape, kMediumTable>(launch);
          }
        }
        return StartRowForward<T, Norm, Gate, kShape, MaxSegments(kShape)>(launch);
      });
    });
  });
}

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_ROW_FORWARD_LAUNCH_CUH_
