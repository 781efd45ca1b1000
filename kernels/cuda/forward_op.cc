#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/encode.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/op.h"
#include "kernels/cuda/plan.h"
#include "kernels/cuda/tile_list.h"

namespace normd::cuda {
namespace {

cudaError_t Launch(const NormSpec& spec, const Plan& plan,
                   const TableLaunch<ForwardSegment>& launch) {
  const KernelKey key = KeyOf(spec, plan);
  switch (plan.family) {
    case Family::kRowTile:
    case Family::kBlockRow:
      return LaunchRowForward(spec.dtype, key, launch);
    case Family::kStreaming:
      return LaunchStreamingForward(key, launch);
  }
  return cudaErrorNotSupported;
}

}  // namespace

absl::StatusOr<LaunchInfo> RunForward(const NormSpec& spec, absl::Span<const Segment> segments,
                                      CudaStream& stream) {
  const Plan plan = MakePlan(spec);
  const LaunchHeader header = EncodeHeader(spec, plan);
  TileList<ForwardSegment> list(MaxSegments(plan));
  LaunchInfo info{plan.kernel, 0};
  const auto flush = [&]() -> absl::Status {
    if (list.empty()) return absl::OkStatus();
    const cudaError_t error = Launch(spec, plan, list.Launch(header, plan.threads, stream.get()));
    list.Clear();
    ++info.launches;
    return error == cudaSuccess ? absl::OkStatus() : ToStatus(error, plan.kernel);
  };
  for (const Segment& segment : segments) {
    const ForwardSegment encoded = EncodeForward(spec, plan, segment);
    const int64_t tiles = encoded.strips * BlocksPerStrip(plan);
    if (tiles == 0) continue;
    if (!list.Fits(tiles)) {
      if (absl::Status status = flush(); !status.ok()) return status;
    }
    list.Add(encoded, tiles);
  }
  if (absl::Status status = flush(); !status.ok()) return status;
  return info;
}

}  // namespace normd::cuda
