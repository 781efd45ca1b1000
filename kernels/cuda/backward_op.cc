#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/backward_scratch.h"
#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/encode.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/op.h"
#include "kernels/cuda/plan.h"
#include "kernels/cuda/tile_list.h"

namespace normd::cuda {
namespace {

using Launcher = cudaError_t (*)(const NormSpec&, const Plan&, const TableLaunch<BackwardSegment>&);

cudaError_t LaunchRows(const NormSpec& spec, const Plan& plan,
                       const TableLaunch<BackwardSegment>& launch) {
  return LaunchRowBackward(spec.dtype, KeyOf(spec, plan), launch);
}

cudaError_t LaunchSums(const NormSpec& spec, const Plan& plan,
                       const TableLaunch<BackwardSegment>& launch) {
  return LaunchStreamingSums(KeyOf(spec, plan), launch);
}

cudaError_t LaunchApply(const NormSpec& spec, const Plan& plan,
                        const TableLaunch<BackwardSegment>& launch) {
  return LaunchStreamingApply(KeyOf(spec, plan), launch);
}

// One backward over all segments, batch by batch.
class BackwardRun {
 public:
  BackwardRun(const NormSpec& spec, CudaStream& stream)
      : spec_(spec),
        stream_(stream),
        plan_(MakePlan(spec)),
        streaming_(plan_.family == Family::kStreaming),
        partials_plan_(streaming_ ? MakeApplyPlan(spec) : plan_) {}

  absl::StatusOr<LaunchInfo> Run(absl::Span<const Segment> segments) {
    // Scratch first: it is what can fail, and then nothing has been enqueued.
    int64_t bytes = 0;
    for (auto rest = segments; !rest.empty();) {
      const Batch batch = NextBatch(spec_, partials_plan_, rest);
      bytes = std::max(bytes, batch.scratch_bytes);
      rest.remove_prefix(static_cast<size_t>(batch.count));
    }
    absl::StatusOr<std::byte*> scratch = stream_.scratch().Reserve(bytes);
    if (!scratch.ok()) return scratch.status();
    for (auto rest = segments; !rest.empty();) {
      const auto count = static_cast<size_t>(NextBatch(spec_, partials_plan_, rest).count);
      if (absl::Status status = RunBatch(rest.first(count), *scratch); !status.ok()) return status;
      rest.remove_prefix(count);
    }
    return info_;
  }

 private:
  absl::Status RunBatch(absl::Span<const Segment> segments, std::byte* scratch) {
    if (streaming_) {
      if (absl::Status s = RunPass(segments, plan_, scratch, LaunchSums); !s.ok()) return s;
      if (absl::Status s = RunPass(segments, partials_plan_, scratch, LaunchApply); !s.ok()) {
        return s;
      }
    } else {
      if (absl::Status s = RunPass(segments, plan_, scratch, LaunchRows); !s.ok()) return s;
    }
    return SumPartials(segments, scratch);
  }

  // Launches one kernel over all segments that have rows.
  absl::Status RunPass(absl::Span<const Segment> segments, const Plan& plan, std::byte* scratch,
                       Launcher launcher) {
    const LaunchHeader header = EncodeHeader(spec_, plan);
    TileList<BackwardSegment> list(MaxSegments(plan));
    const auto flush = [&]() -> absl::Status {
      if (list.empty()) return absl::OkStatus();
      const cudaError_t error =
          launcher(spec_, plan, list.Launch(header, plan.threads, stream_.get()));
      list.Clear();
      ++info_.launches;
      return error == cudaSuccess ? absl::OkStatus() : ToStatus(error, plan.kernel);
    };
    for (const Segment& segment : segments) {
      BackwardSegment encoded = EncodeBackward(spec_, plan, segment);
      const SegmentScratch parts = ScratchOf(spec_, partials_plan_, segment.rows);
      encoded.partials = reinterpret_cast<float*>(scratch);
      encoded.sums = reinterpret_cast<RowSums*>(scratch + parts.partials);
      scratch += parts.total();
      const int64_t tiles = encoded.strips * BlocksPerStrip(plan);
      if (tiles == 0) continue;
      if (!list.Fits(tiles)) {
        if (absl::Status status = flush(); !status.ok()) return status;
      }
      list.Add(encoded, tiles);
    }
    return flush();
  }

  // dweight and dbias of every segment, zeros for those without rows.
  absl::Status SumPartials(absl::Span<const Segment> segments, const std::byte* scratch) {
    if (!spec_.want_dweight && !spec_.want_dbias) return absl::OkStatus();
    std::array<SumSegment, 2 * kLargeTable> sums;
    size_t count = 0;
    for (const Segment& segment : segments) {
      const int32_t strips = StripsOf(partials_plan_, segment.rows);
      const auto* partials = reinterpret_cast<const float*>(scratch);
      if (spec_.want_dweight) {
        sums[count++] = {partials, segment.dweight, strips, spec_.dweight_dtype};
        partials += int64_t{strips} * spec_.width;
      }
      if (spec_.want_dbias) sums[count++] = {partials, segment.dbias, strips, spec_.dbias_dtype};
      scratch += ScratchOf(spec_, partials_plan_, segment.rows).total();
    }
    const LaunchHeader header = EncodeHeader(spec_, partials_plan_);
    TableLaunch<SumSegment> launch;
    launch.header = &header;
    launch.segments = sums.data();
    launch.count = static_cast<int>(count);
    launch.stream = stream_.get();
    ++info_.launches;
    return ToStatus(LaunchSumPartials(launch), "cuda_sum_partials");
  }

  const NormSpec& spec_;
  CudaStream& stream_;
  const Plan plan_;
  const bool streaming_;
  const Plan partials_plan_;
  LaunchInfo info_{plan_.kernel, 0};
};

}  // namespace

absl::StatusOr<LaunchInfo> RunBackward(const NormSpec& spec, absl::Span<const Segment> segments,
                                       CudaStream& stream) {
  return BackwardRun(spec, stream).Run(segments);
}

}  // namespace normd::cuda
