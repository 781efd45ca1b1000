// Backward of the streaming family, in two passes: the sums of every row, then the gradients, for
// which a block needs no whole row: it takes some columns of the rows of its strip.
#ifndef NORMD_KERNELS_CUDA_KERNEL_STREAMING_BACKWARD_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_STREAMING_BACKWARD_CUH_

#include "kernels/cuda/kernel/gradient.cuh"
#include "kernels/cuda/kernel/parameters.cuh"
#include "kernels/cuda/kernel/partial_sums.cuh"
#include "kernels/cuda/kernel/streamed_row.cuh"
#include "kernels/cuda/kernel/team.cuh"
#include "kernels/cuda/kernel/tile.cuh"

namespace normd::cuda {

struct RowSums {
  Moments moments;
  GradientMeans means;
};
static_assert(sizeof(RowSums) == kRowSumsBytes);

template <typename Norm, typename Gate, typename Team>
__device__ void StreamingSumsOfRow(const LaunchHeader& header, const BackwardSegment& segment,
                                   Team& team, const Place& place, int64_t row) {
  const bool active[1] = {place.active && row < segment.rows};
  const int64_t index = row * header.groups + place.group;
  StreamedRow<Gate, BackwardSegment> source(header, segment, row, place.group * header.group,
                                            active[0] ? header.group : 0, team.rank(), team.size());
  Moments moments[1];
  if (!header.has_statistics) {
    ComputeMoments<Norm>(team, source, GroupOf(header), segment.eps, active, moments);
  } else if (active[0]) {
    moments[0] =
        MomentsFromSaved(Norm::kCentered ? segment.mean[index] : 0.0f, segment.rstd[index]);
  }
  source.SetScale(moments[0].scale);
  float parts[2] = {};
  source.ForEach([&](const Run& run, const float(&t)[kRun]) {
    float dy[kRun];
    float weight[kRun];
    float gate[kRun];
    LoadRun(segment.dy, header.dy_dtype, run, dy);
    LoadWeight(header, segment, run.column, run.count, weight);
    if constexpr (Gate::kAfterNorm) LoadRun(segment.z, header.z_dtype, run, gate);
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      if (i >= run.count) continue;
      Activation a{};
      if constexpr (Gate::kAfterNorm) a = Activate(gate[i], header.silu);
      const float g = AffineGradient<Gate>(dy[i], a) * weight[i];
      parts[0] = __fmaf_rn(g, Norm::Normalize(t[i], moments[0]), parts[0]);
      parts[1] += g;
    }
  });
  team.template Reduce<Add>(parts);
  if (active[0] && team.rank() == 0) {
    const GroupSize group = GroupOf(header);
    segment.sums[index] = {moments[0],
                           {group.MeanOrInfinity(parts[0]), group.MeanOrInfinity(parts[1])}};
  }
}

template <typename Norm, typename Gate, typename Team>
__global__ void __launch_bounds__(Team::kWholeBlock ? StreamingShape::kMaxBlockThreads
                                                    : StreamingShape::kTileThreads)
    StreamingSumsKernel(const __grid_constant__ SegmentTable<BackwardSegment, kWideTable> table) {
  const LaunchHeader& header = table.header;
  const int index = FindSegment(table);
  const BackwardSegment& segment = table.segments[index];
  const Tile tile = TileOf(header.geometry, blockIdx.x - table.first_tile[index]);
  Team team(header.geometry.lanes_log2);
  const Place place = PlaceOf(header, tile, team.index());
  const int64_t step_rows = header.geometry.rows_per_block;
  const int64_t stride = segment.strips * step_rows;
  for (int64_t first = tile.strip * step_rows; first < segment.rows; first += stride) {
    StreamingSumsOfRow<Norm, Gate>(header, segment, team, place, first + place.row);
  }
}

// The gradients of kRun columns of the rows of a strip.
template <typename Norm, typename Gate>
class StreamingApply {
 public:
  __device__ StreamingApply(const LaunchHeader& header, const BackwardSegment& segment,
                            const Place& place, int column, int count)
      : header_(header),
        segment_(segment),
        group_(place.group),
        run_{0, column, count, segment.aligned_rows} {
    LoadWeight(header, segment, column, count, weight_);
    if constexpr (Gate::kAfterNorm) LoadBias(header, segment, column, count, bias_);
  }

  __device__ void Row(int64_t row) {
    run_.row = row;
    const RowSums sums = segment_.sums[row * header_.groups + group_];
    float t[kRun];
    float dy[kRun];
    float gate[kRun] = {};
    LoadRunInput<Gate>(header_, segment_, run_, sums.moments.scale, t);
    LoadRun(segment_.dy, header_.dy_dtype, run_, dy);
    if constexpr (kHasGate<Gate>) LoadRun(segment_.z, header_.z_dtype, run_, gate);
    float dt[kRun];
    float dz[kRun];
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      Activation a{};
      if constexpr (kHasGate<Gate>) a = Activate(gate[i], header_.silu);
      const float h = Norm::Normalize(t[i], sums.moments);
      const float weighted = header_.round_before_weight ? RoundTo(header_.dtype, h) : h;
      const float du = AffineGradient<Gate>(dy[i], a);
      dweight[i] = __fmaf_rn(du, weighted, dweight[i]);
      dbias[i] += du;
      dt[i] = InputGradient<Norm>(du * weight_[i], h, sums.means, sums.moments);
      if constexpr (Gate::kAfterNorm) {
        dz[i] = dy[i] * __fmaf_rn(weighted, weight_[i], bias_[i]) * a.slope;
      }
    }
    if constexpr (Gate::kBeforeNorm) {
      GateBackward(gate, dt, dz);
      ApplyScale(sums.moments, dz);
    }
    ApplyScale(sums.moments, dt);
    StoreRow(dt, dz);
  }

  float dweight[kRun] = {};
  float dbias[kRun] = {};

 private:
  // From dt to dx and dz.
  __device__ void GateBackward(const float (&gate)[kRun], float (&dt)[kRun], float (&dz)[kRun]) {
    float x[kRun];
    LoadRun(segment_.x, header_.dtype, run_, x);
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      const Activation a = Activate(gate[i], header_.silu);
      dz[i] = dt[i] * x[i] * a.slope;
      dt[i] *= a.value;
    }
  }

  __device__ void StoreRow(float (&dt)[kRun], const float (&dz)[kRun]) {
    if constexpr (kHasGate<Gate>) {
      if (header_.want_dz) StoreRun(segment_.dz, header_.z_dtype, run_, dz);
    }
    if (header_.has_dresidual_out) {
      float added[kRun];
      LoadRun(segment_.dresidual_out, header_.dtype, run_, added);
#pragma unroll
      for (int i = 0; i < kRun; ++i) dt[i] += added[i];
    }
    if (header_.want_dx) StoreRun(segment_.dx, header_.dtype, run_, dt);
    if (header_.want_dresidual) StoreRun(segment_.dresidual, header_.dtype, run_, dt);
  }

  const LaunchHeader& header_;
  const BackwardSegment& segment_;
  int group_;
  Run run_;
  float weight_[kRun];
  float bias_[kRun];
};

template <typename Norm, typename Gate>
__global__ void __launch_bounds__(StreamingShape::kApplyThreads)
    StreamingApplyKernel(const __grid_constant__ SegmentTable<BackwardSegment, kWideTable> table) {
  const LaunchHeader& header = table.header;
  const Geometry& geometry = header.geometry;
  const int index = FindSegment(table);
  const BackwardSegment& segment = table.segments[index];
  const Tile tile = TileOf(geometry, blockIdx.x - table.first_tile[index]);
  const int lanes = 1 << geometry.lanes_log2;
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  const Place place = PlaceOf(header, tile, static_cast<int>(threadIdx.x) >> geometry.lanes_log2);
  const int in_group = (tile.column_tile * lanes + lane) * kRun;
  const int count = place.active ? max(0, min(kRun, header.group - in_group)) : 0;
  const int column = place.group * header.group + in_group;
  StreamingApply<Norm, Gate> apply(header, segment, place, column, count);
  const int64_t stride = int64_t{segment.strips} * geometry.rows_per_block;
  for (int64_t row = tile.strip * geometry.rows_per_block + place.row; row < segment.rows;
       row += stride) {
    if (count > 0) apply.Row(row);
  }
  const PartialRows partials = PartialRowsOf(header, segment, tile.strip);
  if (partials.dweight == nullptr && partials.dbias == nullptr) return;
  AddRowsOfBlock<StreamingShape::kApplyThreads>(geometry, lanes, place.row, apply.dweight,
                                                apply.dbias);
  if (place.row == 0) StorePartial(partials, column, count, apply.dweight, apply.dbias);
}

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_STREAMING_BACKWARD_CUH_
