#include "tests/bench/kernel/measure.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "tests/bench/kernel/device.h"
#include "tests/bench/kernel/launch.h"
#include "tests/bench/kernel/period.h"
#include "tests/bench/kernel/verify.h"

namespace normd {
namespace {

constexpr uint32_t kSeed = 20260101;
// A copy of fewer bytes measures caches and launches, not memory.
constexpr int64_t kSmallestCopyBytes = int64_t{64} << 20;
constexpr int64_t kLargeCopyBytes = int64_t{512} << 20;
constexpr int kHostSamples = 200;

}  // namespace

absl::StatusOr<Measurer> Measurer::Make(Backend& backend, MeasureOptions options) {
  if (options.max_bytes == 0) options.max_bytes = DefaultMaxBytes(backend.info());
  absl::StatusOr<std::unique_ptr<Stream>> stream = backend.NewStream();
  if (!stream.ok()) return stream.status();
  return Measurer(backend, options, *std::move(stream));
}

absl::StatusOr<Measurement> Measurer::Measure(const Point& point) {
  if (point.segments > backend_.info().max_segments) {
    return absl::FailedPreconditionError("more segments than a launch of this backend takes");
  }
  absl::StatusOr<Point> fitted = FitRows(point, options_.max_bytes);
  if (!fitted.ok()) return fitted.status();
  const NormSpec spec = SpecOf(*fitted);
  const Period period(spec, fitted->rows / fitted->segments, kSeed);
  Measurement measurement;
  measurement.point = *fitted;
  measurement.sets = Workload::SetsFor(*fitted, options_.max_bytes);
  measurement.bytes_moved = fitted->segments * BytesMoved(spec, fitted->rows / fitted->segments);
  absl::StatusOr<Workload> workload =
      Workload::Make(*fitted, period, measurement.sets, backend_, *stream_);
  if (!workload.ok()) return workload.status();
  absl::Status status;
  if (options_.verify) status = Verify(*workload, period, backend_, *stream_);
  if (status.ok()) status = Time(*workload, measurement);
  // The memory may not go while the stream still works on it, also after an error.
  if (absl::Status waited = stream_->Synchronize(); status.ok()) status = waited;
  if (!status.ok()) return status;
  measurement.verified = options_.verify;
  return measurement;
}

absl::Status Measurer::Time(const Workload& workload, Measurement& measurement) {
  absl::StatusOr<double> copy = CopySecondsPerByte(workload, measurement.point.rows);
  if (!copy.ok()) return copy.status();
  measurement.copy = absl::Seconds(*copy * static_cast<double>(measurement.bytes_moved));
  LaunchInfo info;
  const auto enqueue = [&](int64_t i) -> absl::Status {
    absl::StatusOr<LaunchInfo> launched =
        Launch(backend_, workload.spec(), workload.segments(i % workload.sets()), *stream_);
    if (!launched.ok()) return launched.status();
    info = *launched;
    return absl::OkStatus();
  };
  const bool graph = measurement.point.timing == Timing::kGraph && HasGraphs(backend_);
  absl::StatusOr<Spread> time = graph ? TimeGraph(backend_, *stream_, options_.clock, enqueue)
                                      : TimeEvents(backend_, *stream_, options_.clock, enqueue);
  if (!time.ok()) return time.status();
  measurement.timed = graph ? Timing::kGraph : Timing::kEvents;
  measurement.time = *time;
  measurement.kernel = info.kernel;
  measurement.launches = info.launches;
  if (measurement.point.segments == 1) return absl::OkStatus();
  absl::StatusOr<Spread> host = TimeHost(*stream_, kHostSamples, enqueue);
  if (!host.ok()) return host.status();
  measurement.host = *host;
  return absl::OkStatus();
}

absl::StatusOr<double> Measurer::CopySecondsPerByte(const Workload& workload, int64_t rows) {
  const bool forward = workload.spec().direction == Direction::kForward;
  const TensorId output = forward ? TensorId::kY : TensorId::kDx;
  const int64_t bytes = rows * workload.tensor(TensorId::kX).row_bytes();
  if (bytes < kSmallestCopyBytes) return LargeCopySecondsPerByte();
  absl::StatusOr<Spread> time =
      TimeEvents(backend_, *stream_, options_.clock, [&](int64_t i) -> absl::Status {
        const int64_t set = i % workload.sets();
        return stream_->Copy(workload.Row(set, output, 0), workload.Row(set, TensorId::kX, 0),
                             bytes);
      });
  if (!time.ok()) return time.status();
  return absl::ToDoubleSeconds(time->median) / static_cast<double>(2 * bytes);
}

absl::StatusOr<double> Measurer::LargeCopySecondsPerByte() {
  if (large_copy_.has_value()) return *large_copy_;
  const int64_t bytes = std::min(kLargeCopyBytes, options_.max_bytes / 2);
  absl::StatusOr<Memory> memory = backend_.Allocate(2 * bytes, MemoryKind::kDevice);
  if (!memory.ok()) return memory.status();
  auto* const source = static_cast<std::byte*>(memory->data());
  // Bytes that are not zero: zeros can run faster than data.
  absl::Status status = stream_->Fill(source, std::byte{0x5a}, bytes);
  if (!status.ok()) return status;
  absl::StatusOr<Spread> time = TimeEvents(backend_, *stream_, options_.clock, [&](int64_t /*i*/) {
    return stream_->Copy(source + bytes, source, bytes);
  });
  absl::Status waited = stream_->Synchronize();
  if (!time.ok()) return time.status();
  if (!waited.ok()) return waited;
  large_copy_ = absl::ToDoubleSeconds(time->median) / static_cast<double>(2 * bytes);
  return *large_copy_;
}

}  // namespace normd
