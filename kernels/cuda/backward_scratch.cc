#include "kernels/cuda/backward_scratch.h"

#include "kernels/cuda/segment_table.h"

namespace normd::cuda {
namespace {

constexpr int64_t RoundUp(int64_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

SegmentScratch ScratchOf(const NormSpec& spec, const Plan& partials_plan, int64_t rows) {
  const int64_t planes = int64_t{spec.want_dweight} + int64_t{spec.want_dbias};
  const int64_t strips = StripsOf(partials_plan, rows);
  SegmentScratch scratch;
  scratch.partials = RoundUp(planes * strips * spec.width * int64_t{sizeof(float)});
  if (partials_plan.family == Family::kStreaming) {
    scratch.sums = RoundUp(rows * spec.groups() * kRowSumsBytes);
  }
  return scratch;
}

Batch NextBatch(const NormSpec& spec, const Plan& partials_plan,
                absl::Span<const Segment> segments) {
  Batch batch;
  for (const Segment& segment : segments) {
    const int64_t bytes = ScratchOf(spec, partials_plan, segment.rows).total();
    const bool full = batch.count == kLargeTable || batch.scratch_bytes + bytes > kMaxBatchScratch;
    if (batch.count > 0 && full) break;
    ++batch.count;
    batch.scratch_bytes += bytes;
  }
  return batch;
}

}  // namespace normd::cuda
