// Backward with the row in registers: the skeleton of the row-tile and the block-row family.
//
// A block runs over the steps of its strip with the sums of dweight and dbias in registers, and
// leaves one partial row of each; sum_partials.cu adds the partial rows.
#ifndef NORMD_KERNELS_CUDA_KERNEL_ROW_BACKWARD_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_ROW_BACKWARD_CUH_

#include "kernels/cuda/kernel/gradient.cuh"
#include "kernels/cuda/kernel/parameters.cuh"
#include "kernels/cuda/kernel/partial_sums.cuh"
#include "kernels/cuda/kernel/register_rows.cuh"
#include "kernels/cuda/kernel/team.cuh"
#include "kernels/cuda/kernel/tile.cuh"

namespace normd::cuda {

template <typename T, typename Norm, typename Gate, typename Team, int kChunks, int kRows,
          int kThreads>
class RowBackward {
 public:
  __device__ RowBackward(const LaunchHeader& header, const BackwardSegment& segment,
                         const Tile& tile)
      : header_(header),
        segment_(segment),
        tile_(tile),
        team_(header.geometry.lanes_log2),
        place_(PlaceOf(header, tile, team_.index())),
        columns_{place_.group * header.group, team_.rank(), team_.size(),
                 place_.active ? header.group : 0} {}

  __device__ void Run() {
#pragma unroll
    for (int c = 0; c < kChunks; ++c) LoadParameters(c);
    const int64_t step_rows = int64_t{header_.geometry.rows_per_block} * kRows;
    const int64_t stride = segment_.strips * step_rows;
    for (int64_t first = tile_.strip * step_rows; first < segment_.rows; first += stride) {
      Step(first);
    }
    StorePartials();
  }

 private:
  static constexpr int kWide = kVector<T>;
  static constexpr int kElements = kChunks * kWide;
  // Sums over a row: of g * h and, for LayerNorm, of g.
  static constexpr int kSums = Norm::kCentered ? 2 : 1;
  using PackedSet = PackedRows<T, kRows, kChunks>;

  __device__ void LoadParameters(int chunk) {
    float part[kWide];
    LoadWeight(header_, segment_, columns_.InRow(chunk), columns_.Count(chunk), part);
#pragma unroll
    for (int i = 0; i < kWide; ++i) weight_[chunk * kWide + i] = part[i];
    if constexpr (Gate::kAfterNorm) {
      LoadBias(header_, segment_, columns_.InRow(chunk), columns_.Count(chunk), part);
#pragma unroll
      for (int i = 0; i < kWide; ++i) bias_[chunk * kWide + i] = part[i];
    }
  }

  __device__ void Step(int64_t first) {
    rows_.first = first + place_.row;
    rows_.step = header_.geometry.rows_per_block;
#pragma unroll
    for (int u = 0; u < kRows; ++u) {
      rows_.active[u] = place_.active && rows_.Row(u) < segment_.rows;
    }
    LoadRows<T>(segment_.x, segment_.aligned_rows, rows_, columns_, x_);
    LoadRows<T>(segment_.dy, segment_.aligned_rows, rows_, columns_, dy_);
    if constexpr (kHasGate<Gate>) {
      LoadRows<T>(segment_.z, segment_.aligned_rows, rows_, columns_, z_);
    }
    Moments moments[kRows];
    if (header_.has_statistics) LoadMoments(moments);
    float h[kRows][kElements];
#pragma unroll
    for (int u = 0; u < kRows; ++u) UnpackInput(u, 1.0f, h[u]);
    FindMoments(moments, h);
    float g[kRows][kElements];
    float sums[kSums * kRows] = {};
#pragma unroll
    for (int u = 0; u < kRows; ++u) {
#pragma unroll
      for (int c = 0; c < kChunks; ++c) {
        AffineBackward(u, c, moments[u], h[u], g[u], sums[u], sums[(kSums - 1) * kRows + u]);
      }
    }
    if (!header_.want_dx && !header_.want_dresidual && !(Gate::kBeforeNorm && header_.want_dz)) {
      return;
    }
    team_.template Reduce<Add>(sums);
#pragma unroll
    for (int u = 0; u < kRows; ++u) {
      const GroupSize group = GroupOf(header_);
      const GradientMeans means{group.MeanOrInfinity(sums[u]),
                                group.MeanOrInfinity(sums[(kSums - 1) * kRows + u])};
#pragma unroll
      for (int c = 0; c < kChunks; ++c) {
        NormBackward(u, c, means, moments[u], h[u], g[u]);
      }
    }
  }

  __device__ void LoadMoments(Moments (&moments)[kRows]) {
#pragma unroll
    for (int u = 0; u < kRows; ++u) {
      if (!rows_.active[u]) continue;
      const int64_t index = rows_.Row(u) * header_.groups + place_.group;
      const float mean = Norm::kCentered ? segment_.mean[index] : 0.0f;
      moments[u] = MomentsFromSaved(mean, segment_.rstd[index]);
    }
  }

  // The moments of rows that came without, and t times their scale. Columns past the group count
  // as the mean: whatever the mean is, they add nothing to the sums.
  __device__ void FindMoments(Moments (&moments)[kRows], float (&t)[kRows][kElements]) {
    const auto rescale = [&](int u, float scale) { Rescale(u, scale, t[u]); };
    RegisterRows<T, kRows, kChunks, decltype(rescale)> source(t, columns_, header_.full, rescale);
    if (header_.has_statistics) {
      float mean[kRows];
#pragma unroll
      for (int u = 0; u < kRows; ++u) {
        if (moments[u].scale != 1.0f) Rescale(u, moments[u].scale, t[u]);
        mean[u] = moments[u].mean;
      }
      source.Pad(mean);
      return;
    }
    ComputeMoments<Norm>(team_, source, GroupOf(header_), segment_.eps, rows_.active, moments);
#pragma unroll
    for (int u = 0; u < kRows; ++u) {
      if (!rows_.active[u]) moments[u] = Moments{};
    }
  }

  // t = x * scale, gated when the gate stands before the norm.
  __device__ void UnpackInput(int u, float scale, float (&t)[kElements]) {
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      float part[kWide];
      Unpack(x_[u][c], part);
#pragma unroll
      for (int i = 0; i < kWide; ++i) t[c * kWide + i] = part[i] * scale;
      if constexpr (Gate::kBeforeNorm) {
        Unpack(z_[u][c], part);
#pragma unroll
        for (int i = 0; i < kWide; ++i) t[c * kWide + i] *= Activate(part[i], header_.silu).value;
      }
    }
  }

  // Makes t again. Rare: not worth the registers that would keep the gate.
  __device__ void Rescale(int u, float scale, float (&t)[kElements]) {
    if constexpr (Gate::kBeforeNorm) {
#pragma unroll
      for (int c = 0; c < kChunks; ++c) Forget(z_[u][c]);
    }
    UnpackInput(u, scale, t);
  }

  // From dy to g = du * w; h takes the place of t. Adds to the sums of dweight and dbias and to
  // those of the row; stores dz of a gate after the norm.
  __device__ void AffineBackward(int u, int c, const Moments& moments, float (&h)[kElements],
                                 float (&g)[kElements], float& sum_gh, float& sum_g) {
    float dy[kWide];
    float gate[kWide] = {};
    float dz[kWide];
    float weighted[kWide];  // what the weight multiplied in forward
    Unpack(dy_[u][c], dy);
    if constexpr (Gate::kAfterNorm) Unpack(z_[u][c], gate);
#pragma unroll
    for (int i = 0; i < kWide; ++i) {
      const int e = c * kWide + i;
      h[e] = Norm::Normalize(h[e], moments);
      weighted[i] = h[e];
    }
    if (header_.round_before_weight) {
#pragma unroll
      for (int i = 0; i < kWide; ++i) weighted[i] = RoundTo<T>(weighted[i]);
    }
#pragma unroll
    for (int i = 0; i < kWide; ++i) {
      const int e = c * kWide + i;
      Activation a{};
      if constexpr (Gate::kAfterNorm) {
        a = Activate(gate[i], header_.silu);
        dz[i] = dy[i] * __fmaf_rn(weighted[i], weight_[e], bias_[e]) * a.slope;
      }
      const float du = AffineGradient<Gate>(dy[i], a);
      sum_weight_[e] = __fmaf_rn(du, weighted[i], sum_weight_[e]);
      sum_bias_[e] += du;
      g[e] = du * weight_[e];
      sum_gh = __fmaf_rn(g[e], h[e], sum_gh);
      if constexpr (Norm::kCentered) sum_g += g[e];
    }
    if constexpr (Gate::kAfterNorm) {
      if (header_.want_dz) {
        StoreVector<T>(segment_.dz, segment_.aligned_rows, rows_, u, columns_, c, dz);
      }
    }
  }

  // From g to dx, dresidual, and dz of a gate before the norm.
  __device__ void NormBackward(int u, int c, const GradientMeans& means, const Moments& moments,
                               const float (&h)[kElements], const float (&g)[kElements]) {
    const bool aligned = segment_.aligned_rows;
    float dt[kWide];
#pragma unroll
    for (int i = 0; i < kWide; ++i) {
      const int e = c * kWide + i;
      dt[i] = InputGradient<Norm>(g[e], h[e], means, moments);
    }
    if constexpr (Gate::kBeforeNorm) {
      float x[kWide];
      float gate[kWide];
      float dz[kWide];
      Unpack(x_[u][c], x);
      Forget(z_[u][c]);
      Unpack(z_[u][c], gate);
#pragma unroll
      for (int i = 0; i < kWide; ++i) {
        const Activation a = Activate(gate[i], header_.silu);
        dz[i] = dt[i] * x[i] * a.slope;
        dt[i] *= a.value;
      }
      if (header_.want_dz) {
        ApplyScale(moments, dz);
        StoreVector<T>(segment_.dz, aligned, rows_, u, columns_, c, dz);
      }
    }
    ApplyScale(moments, dt);
    if (!Gate::kBeforeNorm && header_.has_dresidual_out) AddResidualGradient(u, c, dt);
    if (header_.want_dx) StoreVector<T>(segment_.dx, aligned, rows_, u, columns_, c, dt);
    if (header_.want_dresidual) {
      StoreVector<T>(segment_.dresidual, aligned, rows_, u, columns_, c, dt);
    }
  }

  __device__ void AddResidualGradient(int u, int c, float (&dt)[kWide]) {
    if (!rows_.active[u]) return;
    const T* row = static_cast<const T*>(segment_.dresidual_out.data) +
                   rows_.Row(u) * segment_.dresidual_out.row_stride + columns_.InRow(c);
    Packed<T> packed;
    float added[kWide];
    if (segment_.aligned_rows) {
      Load<T, true>(row, columns_.Count(c), packed);
    } else {
      Load<T, false>(row, columns_.Count(c), packed);
    }
    Unpack(packed, added);
#pragma unroll
    for (int i = 0; i < kWide; ++i) dt[i] += added[i];
  }

  __device__ void StorePartials() {
    const PartialRows partials = PartialRowsOf(header_, segment_, tile_.strip);
    if (partials.dweight == nullptr && partials.dbias == nullptr) return;
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      float weight[kWide];
      float bias[kWide];
#pragma unroll
      for (int i = 0; i < kWide; ++i) {
        weight[i] = sum_weight_[c * kWide + i];
        bias[i] = sum_bias_[c * kWide + i];
      }
      if constexpr (!Team::kWholeBlock) {
        AddRowsOfBlock<kThreads>(header_.geometry, team_.size(), place_.row, weight, bias);
      }
      if (place_.active && place_.row == 0) {
        StorePartial(partials, columns_.InRow(c), columns_.Count(c), weight, bias);
      }
    }
  }

  const LaunchHeader& header_;
  const BackwardSegment& segment_;
  Tile tile_;
  Team team_;
  Place place_;
  Columns<T, kChunks> columns_;
  RowSet<kRows> rows_;
  float weight_[kElements];
  float bias_[kElements];
  float sum_weight_[kElements] = {};
  float sum_bias_[kElements] = {};
  PackedSet x_;
  PackedSet dy_;
  PackedSet z_;
};

template <typename T, typename Norm, typename Gate, typename Team, int kChunks, int kRows,
          int kThreads, int kBlocks, int kCapacity>
__global__ void __launch_bounds__(kThreads, kBlocks)
    RowBackwardKernel(const __grid_constant__ SegmentTable<BackwardSegment, kCapacity> table) {
  const int index = FindSegment(table);
  const Tile tile = TileOf(table.header.geometry, blockIdx.x - table.first_tile[index]);
  RowBackward<T, Norm, Gate, Team, kChunks, kRows, kThreads>(table.header, table.segments[index],
                                                             tile)
      .Run();
}

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_ROW_BACKWARD_CUH_
