#include "server/telemetry/histogram.h"

#include <algorithm>
#include <cstddef>

namespace normd {
namespace {

// At most three digits each, so that the `le` labels stay short.
constexpr int64_t kDurationBounds[] = {
    1'000,         2'000,         2'500,         3'150,         4'000,       5'000,
    6'300,         8'000,         10'000,        12'500,        16'000,      20'000,
    25'000,        31'500,        40'000,        50'000,        63'000,      80'000,
    100'000,       125'000,       160'000,       200'000,       250'000,     315'000,
    400'000,       500'000,       1'000'000,     2'000'000,     4'000'000,   8'000'000,
    16'000'000,    31'500'000,    63'000'000,    125'000'000,   250'000'000, 500'000'000,
    1'000'000'000, 2'000'000'000, 5'000'000'000, 10'000'000'000};

constexpr int64_t kRequestBounds[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};

constexpr int64_t kRowBounds[] = {1,     4,     16,     64,      256,     1024,     4096,
                                  16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864};

}  // namespace

Histogram::Histogram(absl::Span<const int64_t> bounds)
    : bounds_(bounds), cells_(bounds.size() + 2) {}

void Histogram::Observe(int64_t value) {
  const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);
  cells_.Add(static_cast<size_t>(bound - bounds_.begin()), 1, bounds_.size() + 1, value);
}

Histogram::Snapshot Histogram::Read() const {
  Snapshot snapshot;
  snapshot.counts.resize(bounds_.size() + 1);
  for (size_t i = 0; i < snapshot.counts.size(); ++i) {
    snapshot.counts[i] = cells_.Read(i);
    snapshot.count += snapshot.counts[i];
  }
  snapshot.sum = cells_.Read(bounds_.size() + 1);
  return snapshot;
}

absl::Span<const int64_t> DurationBounds() { return kDurationBounds; }
absl::Span<const int64_t> RequestBounds() { return kRequestBounds; }
absl::Span<const int64_t> RowBounds() { return kRowBounds; }

}  // namespace normd
