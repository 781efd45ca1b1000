// Forward with the row in registers: the skeleton of the row-tile and the block-row family.
#ifndef NORMD_KERNELS_CUDA_KERNEL_ROW_FORWARD_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_ROW_FORWARD_CUH_

#include "kernels/cuda/kernel/gate.cuh"
#include "kernels/cuda/kernel/moments.cuh"
#include "kernels/cuda/kernel/parameters.cuh"
#include "kernels/cuda/kernel/register_rows.cuh"
#include "kernels/cuda/kernel/team.cuh"
#include "kernels/cuda/kernel/tile.cuh"

namespace normd::cuda {

template <typename T, typename Norm, typename Gate, typename Team, int kChunks, int kRows>
class RowForward {
 public:
  __device__ RowForward(const LaunchHeader& header, const ForwardSegment& segment, const Tile& tile)
      : header_(header),
        segment_(segment),
        tile_(tile),
        team_(header.geometry.lanes_log2),
        place_(PlaceOf(header, tile, team_.index())),
        columns_{place_.group * header.group, team_.rank(), team_.size(),
                 place_.active ? header.group : 0} {}

  __device__ void Run() {
    if constexpr (kKeepParameters) LoadParameters(0);
    const int64_t step_rows = int64_t{header_.geometry.rows_per_block} * kRows;
    const int64_t stride = segment_.strips * step_rows;
    for (int64_t first = tile_.strip * step_rows; first < segment_.rows; first += stride) {
      Step(first);
    }
  }

 private:
  static constexpr int kWide = kVector<T>;
  // One vector a thread: its parameters stay in registers. More: they are loaded at their use.
  static constexpr bool kKeepParameters = kChunks == 1;

  __device__ void LoadParameters(int chunk) {
    if (!header_.want_y) return;
    LoadWeight(header_, segment_, columns_.InRow(chunk), columns_.Count(chunk), weight_);
    LoadBias(header_, segment_, columns_.InRow(chunk), columns_.Count(chunk), bias_);
  }

  __device__ void Step(int64_t first) {
    rows_.first = first + place_.row;
    rows_.step = header_.geometry.rows_per_block;
#pragma unroll
    for (int u = 0; u < kRows; ++u) {
      rows_.active[u] = place_.active && rows_.Row(u) < segment_.rows;
    }
    float t[kRows][kChunks * kWide];
    LoadInput(t);
    if (!header_.want_y && !header_.want_mean && !header_.want_rstd) return;
    const auto rescale = [&](int u, float scale) { Rescale(u, scale, t[u]); };
    RegisterRows<T, kRows, kChunks, decltype(rescale)> source(t, columns_, header_.full, rescale);
    Moments moments[kRows];
    ComputeMoments<Norm>(team_, source, GroupOf(header_), segment_.eps, rows_.active, moments);
    StoreMoments(moments);
    if (!header_.want_y) return;
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      if constexpr (!kKeepParameters) LoadParameters(c);
#pragma unroll
      for (int u = 0; u < kRows; ++u) StoreY(u, c, moments[u], t[u]);
    }
  }

  // t of all rows; z stays packed for a gate after the norm.
  __device__ void LoadInput(float (&t)[kRows][kChunks * kWide]) {
    PackedRows<T, kRows, kChunks> x;
    LoadRows<T>(segment_.x, segment_.aligned_rows, rows_, columns_, x);
    if constexpr (kHasGate<Gate>) {
      LoadRows<T>(segment_.z, segment_.aligned_rows, rows_, columns_, z_);
    }
    if constexpr (!Gate::kBeforeNorm) {
      if (header_.has_residual) return AddResidual(x, t);
    }
#pragma unroll
    for (int u = 0; u < kRows; ++u) {
#pragma unroll
      for (int c = 0; c < kChunks; ++c) UnpackInput(x[u][c], z_[u][c], 1.0f, t[u], c);
    }
  }

  // Vector c of t = x * scale, gated when the gate stands before the norm.
  __device__ void UnpackInput(const Packed<T>& x, const Packed<T>& z, float scale,
                              float (&t)[kChunks * kWide], int c) {
    float part[kWide];
    Unpack(x, part);
    if constexpr (Gate::kBeforeNorm) {
      float gate[kWide];
      Unpack(z, gate);
#pragma unroll
      for (int i = 0; i < kWide; ++i) {
        part[i] = (part[i] * scale) * Activate(gate[i], header_.silu).value;
      }
    }
#pragma unroll
    for (int i = 0; i < kWide; ++i) t[c * kWide + i] = part[i];
  }

  // t = x + residual, rounded as residual_out is.
  __device__ void AddResidual(const PackedRows<T, kRows, kChunks>& x,
                              float (&t)[kRows][kChunks * kWide]) {
    PackedRows<T, kRows, kChunks> residual;
    LoadRows<T>(segment_.residual, segment_.aligned_rows, rows_, columns_, residual);
#pragma unroll
    for (int u = 0; u < kRows; ++u) {
#pragma unroll
      for (int c = 0; c < kChunks; ++c) {
        float part[kWide];
        float added[kWide];
        Unpack(x[u][c], part);
        Unpack(residual[u][c], added);
#pragma unroll
        for (int i = 0; i < kWide; ++i) part[i] = RoundTo<T>(part[i] + added[i]);
        if (header_.want_residual_out) {
          StoreVector<T>(segment_.residual_out, segment_.aligned_rows, rows_, u, columns_, c, part);
        }
#pragma unroll
        for (int i = 0; i < kWide; ++i) t[u][c * kWide + i] = part[i];
      }
    }
  }

  // A gated product may have overflowed: it is made again from x and z, which y, even in place,
  // has not overwritten yet. Rare.
  __device__ void Rescale(int u, float scale, float (&t)[kChunks * kWide]) {
    if constexpr (Gate::kBeforeNorm) {
      const RowSet<1> row{rows_.Row(u), 0, {rows_.active[u]}};
      PackedRows<T, 1, kChunks> x;
      PackedRows<T, 1, kChunks> z;
      LoadRows<T>(segment_.x, false, row, columns_, x);
      LoadRows<T>(segment_.z, false, row, columns_, z);
#pragma unroll
      for (int c = 0; c < kChunks; ++c) UnpackInput(x[0][c], z[0][c], scale, t, c);
    } else {
#pragma unroll
      for (int e = 0; e < kChunks * kWide; ++e) t[e] *= scale;
    }
  }

  __device__ void StoreMoments(const Moments (&moments)[kRows]) {
    if (team_.rank() != 0) return;
#pragma unroll
    for (int u = 0; u < kRows; ++u) {
      if (!rows_.active[u]) continue;
      const int64_t index = rows_.Row(u) * header_.groups + place_.group;
      if (header_.want_mean) segment_.mean[index] = moments[u].TrueMean();
      if (header_.want_rstd) segment_.rstd[index] = moments[u].TrueRstd();
    }
  }

  __device__ void StoreY(int u, int c, const Moments& moments, const float (&t)[kChunks * kWide]) {
    float y[kWide];
#pragma unroll
    for (int i = 0; i < kWide; ++i) y[i] = Norm::Normalize(t[c * kWide + i], moments);
    if (header_.round_before_weight) {
#pragma unroll
      for (int i = 0; i < kWide; ++i) y[i] = RoundTo<T>(y[i]);
    }
#pragma unroll
    for (int i = 0; i < kWide; ++i) y[i] = __fmaf_rn(y[i], weight_[i], bias_[i]);
    if constexpr (Gate::kAfterNorm) {
      float gate[kWide];
      Unpack(z_[u][c], gate);
#pragma unroll
      for (int i = 0; i < kWide; ++i) y[i] *= Activate(gate[i], header_.silu).value;
    }
    StoreVector<T>(segment_.y, segment_.aligned_rows, rows_, u, columns_, c, y);
  }

  const LaunchHeader& header_;
  const ForwardSegment& segment_;
  Tile tile_;
  Team team_;
  Place place_;
  Columns<T, kChunks> columns_;
  RowSet<kRows> rows_;
  float weight_[kWide];
  float bias_[kWide];
  PackedRows<T, kRows, kChunks> z_;
};

template <typename T, typename Norm, typename Gate, typename Team, int kChunks, int kRows,
          int kThreads, int kCapacity>
__global__ void __launch_bounds__(kThreads)
    RowForwardKernel(const __grid_constant__ SegmentTable<ForwardSegment, kCapacity> table) {
  const int index = FindSegment(table);
  const Tile tile = TileOf(table.header.geometry, blockIdx.x - table.first_tile[index]);
  RowForward<T, Norm, Gate, Team, kChunks, kRows>(table.header, table.segments[index], tile).Run();
}

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_ROW_FORWARD_CUH_
