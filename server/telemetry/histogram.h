// Histogram: counts of values by bucket, and their sum. Observe is two relaxed adds and a search of
// the bounds; it is thread-safe and never waits. Values are integers (nanoseconds, rows), so that
// the sum is exact.
#ifndef NORMD_SERVER_TELEMETRY_HISTOGRAM_H_
#define NORMD_SERVER_TELEMETRY_HISTOGRAM_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/telemetry/sharded_cells.h"

namespace normd {

class Histogram {
 public:
  struct Snapshot {
    std::vector<int64_t> counts;  // one a bound, then one for all above the last
    int64_t sum = 0;
    int64_t count = 0;
  };

  // `bounds` are upper bounds, inclusive, rising. They must outlive the histogram.
  explicit Histogram(absl::Span<const int64_t> bounds);

  void Observe(int64_t value);

  Snapshot Read() const;
  absl::Span<const int64_t> bounds() const { return bounds_; }

 private:
  absl::Span<const int64_t> bounds_;
  ShardedCells cells_;  // the buckets, then the sum
};

// Durations in nanoseconds, 1 us to 10 s. Between 2 us and 500 us ten steps a decade: there the p99
// that Prometheus interpolates is off by 9 % in the mean, with 1-2-5 steps by 46 %.
absl::Span<const int64_t> DurationBounds();

// Requests of a batch, powers of two to 4096.
absl::Span<const int64_t> RequestBounds();

// Rows of a batch, powers of four to 4^13 (67 million).
absl::Span<const int64_t> RowBounds();

}  // namespace normd

#endif  // NORMD_SERVER_TELEMETRY_HISTOGRAM_H_
