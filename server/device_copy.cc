#include "server/device_copy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace normd {
namespace {

constexpr int64_t kCopyBytes = int64_t{64} << 20;  // more than the caches hold
constexpr int kCopies = 8;

absl::StatusOr<absl::Duration> TimeCopy(Backend& backend, Stream& stream, Memory& to, Memory& from,
                                        Event& start, Event& end) {
  if (auto status = stream.Record(start); !status.ok()) return status;
  if (auto status = stream.Copy(to.data(), from.data(), kCopyBytes); !status.ok()) return status;
  if (auto status = stream.Record(end); !status.ok()) return status;
  if (auto status = end.Synchronize(); !status.ok()) return status;
  return backend.Elapsed(start, end);
}

}  // namespace

absl::StatusOr<double> MeasureDeviceCopy(Backend& backend) {
  absl::StatusOr<Memory> from = backend.Allocate(kCopyBytes, MemoryKind::kDevice);
  if (!from.ok()) return from.status();
  absl::StatusOr<Memory> to = backend.Allocate(kCopyBytes, MemoryKind::kDevice);
  if (!to.ok()) return to.status();
  absl::StatusOr<std::unique_ptr<Event>> start = backend.NewEvent(/*timed=*/true);
  if (!start.ok()) return start.status();
  absl::StatusOr<std::unique_ptr<Event>> end = backend.NewEvent(/*timed=*/true);
  if (!end.ok()) return end.status();
  // Last, so that it ends before what its work uses.
  absl::StatusOr<std::unique_ptr<Stream>> stream = backend.NewStream();
  if (!stream.ok()) return stream.status();
  if (auto status = (*stream)->Fill(from->data(), std::byte{1}, kCopyBytes); !status.ok()) {
    return status;
  }
  absl::Duration best = absl::InfiniteDuration();
  for (int i = 0; i < kCopies; ++i) {
    const absl::StatusOr<absl::Duration> time =
        TimeCopy(backend, **stream, *to, *from, **start, **end);
    if (!time.ok()) return time.status();
    best = std::min(best, *time);
  }
  if (best <= absl::ZeroDuration()) return absl::InternalError("the device measured no time");
  return 2.0 * static_cast<double>(kCopyBytes) / absl::ToDoubleSeconds(best);
}

}  // namespace normd
