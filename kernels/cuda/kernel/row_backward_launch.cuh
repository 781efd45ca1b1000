// Chooses the row backward kernel of one dtype; each dtype is compiled in a file of its own.
#ifndef NORMD_KERNELS_CUDA_KERNEL_ROW_BACKWARD_LAUNCH_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_ROW_BACKWARD_LAUNCH_CUH_

#include <type_traits>

#include "kernels/cuda/kernel/dispatch.cuh"
#include "kernels/cuda/kernel/row_backward.cuh"
#include "kernels/cuda/row_launch.h"

namespace normd::cuda {

template <typename T, typename Norm, typename Gate, RowShape kShape, int kCapacity>
cudaError_t StartRowBackward(const TableLaunch<BackwardSegment>& launch) {
  constexpr int kChunks = ChunksOf(kShape);
  constexpr bool kTile = IsTile(kShape);
  constexpr GateForm kForm = kFormOf<Gate>;
  using Team = std::conditional_t<kTile, WarpTeam, BlockTeam>;
  constexpr int kRows = kTile ? BackwardShape::RowsInFlight(kForm, kChunks) : 1;
  constexpr int kThreads =
      kTile ? BackwardShape::TileThreads(kForm, kChunks) : BackwardShape::MaxBlockThreads(kForm);
  constexpr int kBlocks = kTile ? BackwardShape::TileBlocks(kForm, kChunks) : 1;
  return StartKernel(
      RowBackwardKernel<T, Norm, Gate, Team, kChunks, kRows, kThreads, kBlocks, kCapacity>, launch);
}

template <typename T>
cudaError_t DispatchRowBackward(const KernelKey& key, const TableLaunch<BackwardSegment>& launch) {
  constexpr RowShape kBlock =
      BackwardShape::kBlockColumns == 2 * kVector<T> ? RowShape::kBlock2 : RowShape::kBlock4;
  return DispatchNorm(key.norm, [&]<typename Norm>(Type<Norm>) {
    return DispatchGate(key.gate, [&]<typename Gate>(Type<Gate>) {
      return DispatchBackwardShape<kBlock>(key.shape, [&]<RowShape kShape>(Shape<kShape>) {
        if constexpr (kShape == RowShape::kTile1) {
          if (launch.count <= kSmallTable) {
            return StartRowBackward<T, Norm, Gate, kShape, kSmallTable>(launch);
          }
          if (launch.count <= kMediumTable) {
            return StartRowBackward<T, Norm, Gate, kShape, kMediumTable>(launch);
          }
        }
        return StartRowBackward<T, Norm, Gate, kShape, MaxSegments(kShape)>(launch);
      });
    });
  });
}

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_ROW_BACKWARD_LAUNCH_CUH_
