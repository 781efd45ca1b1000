// Forward of the streaming family: any width, dtypes mixed at will.
#ifndef NORMD_KERNELS_CUDA_KERNEL_STREAMING_FORWARD_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_STREAMING_FORWARD_CUH_

#include "kernels/cuda/kernel/moments.cuh"
#include "kernels/cuda/kernel/parameters.cuh"
#include "kernels/cuda/kernel/streamed_row.cuh"
#include "kernels/cuda/kernel/team.cuh"
#include "kernels/cuda/kernel/tile.cuh"

namespace normd::cuda {

// y, and residual_out, of one run. Reads x before it writes y: in place is right.
template <typename Norm, typename Gate>
__device__ void StoreForwardRun(const LaunchHeader& header, const ForwardSegment& segment,
                                const Run& run, const Moments& moments, const float (&t)[kRun]) {
  if (header.want_residual_out) StoreRun(segment.residual_out, header.dtype, run, t);
  if (!header.want_y) return;
  float weight[kRun];
  float bias[kRun];
  float gate[kRun];
  LoadWeight(header, segment, run.column, run.count, weight);
  LoadBias(header, segment, run.column, run.count, bias);
  if constexpr (Gate::kAfterNorm) LoadRun(segment.z, header.z_dtype, run, gate);
  float y[kRun];
#pragma unroll
  for (int i = 0; i < kRun; ++i) {
    float h = Norm::Normalize(t[i] * moments.scale, moments);
    if (header.round_before_weight) h = RoundTo(header.dtype, h);
    y[i] = __fmaf_rn(h, weight[i], bias[i]);
    if constexpr (Gate::kAfterNorm) y[i] *= Activate(gate[i], header.silu).value;
  }
  StoreRun(segment.y, header.dtype, run, y);
}

template <typename Norm, typename Gate, typename Team>
__device__ void StreamingForwardRow(const LaunchHeader& header, const ForwardSegment& segment,
                                    Team& team, const Place& place, int64_t row) {
  const bool active[1] = {place.active && row < segment.rows};
  StreamedRow<Gate, ForwardSegment> source(header, segment, row, place.group * header.group,
                                           active[0] ? header.group : 0, team.rank(), team.size());
  Moments moments[1];
  ComputeMoments<Norm>(team, source, GroupOf(header), segment.eps, active, moments);
  if (active[0] && team.rank() == 0) {
    const int64_t index = row * header.groups + place.group;
    if (header.want_mean) segment.mean[index] = moments[0].TrueMean();
    if (header.want_rstd) segment.rstd[index] = moments[0].TrueRstd();
  }
  if (!header.want_y && !header.want_residual_out) return;
  Moments applied = moments[0];
  if constexpr (Gate::kBeforeNorm) {
    // A gated product may overflow: it is scaled while it is made.
    source.SetScale(moments[0].scale);
    applied.scale = 1.0f;
  } else {
    source.SetScale(1.0f);  // residual_out is not scaled
  }
  source.ForEach([&](const Run& run, const float(&t)[kRun]) {
    StoreForwardRun<Norm, Gate>(header, segment, run, applied, t);
  });
}

template <typename Norm, typename Gate, typename Team>
__global__ void __launch_bounds__(Team::kWholeBlock ? StreamingShape::kMaxBlockThreads
                                                    : StreamingShape::kTileThreads)
    StreamingForwardKernel(const __grid_constant__ SegmentTable<ForwardSegment, kWideTable> table) {
  const LaunchHeader& header = table.header;
  const int index = FindSegment(table);
  const ForwardSegment& segment = table.segments[index];
  const Tile tile = TileOf(header.geometry, blockIdx.x - table.first_tile[index]);
  Team team(header.geometry.lanes_log2);
  const Place place = PlaceOf(header, tile, team.index());
  const int64_t step_rows = header.geometry.rows_per_block;
  const int64_t stride = segment.strips * step_rows;
  for (int64_t first = tile.strip * step_rows; first < segment.rows; first += stride) {
    StreamingForwardRow<Norm, Gate>(header, segment, team, place, first + place.row);
  }
}

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_STREAMING_FORWARD_CUH_
