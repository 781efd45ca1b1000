// Measurer: measures points on one device: memory, verification, the copy beside it, the clock.
#ifndef NORMD_TESTS_BENCH_KERNEL_MEASURE_H_
#define NORMD_TESTS_BENCH_KERNEL_MEASURE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/backend.h"
#include "tests/bench/kernel/clock.h"
#include "tests/bench/kernel/point.h"
#include "tests/bench/kernel/workload.h"

namespace normd {

struct MeasureOptions {
  int64_t max_bytes = 0;  // of one set of tensors; rows are scaled down to it. 0: DefaultMaxBytes
  bool verify = true;     // against the oracle, before the clock runs
  ClockOptions clock = {};
};

struct Measurement {
  Point point;  // as measured: rows may be fewer than asked for
  Timing timed = Timing::kEvents;
  Spread time;              // of one launch
  absl::Duration copy;      // what a device copy would need for bytes_moved
  int64_t bytes_moved = 0;  // BytesMoved of the launch
  int64_t sets = 1;         // rotated among
  std::string kernel;       // as the backend names it
  int launches = 0;         // kernels in a launch
  bool verified = false;
  std::optional<Spread> host;  // host's cost of a launch; of points with several segments

  double share() const { return absl::FDivDuration(copy, time.median); }
  double gb_per_s() const {
    return static_cast<double>(bytes_moved) / absl::ToDoubleSeconds(time.median) / 1e9;
  }
};

// Not thread-safe. Waits for the device.
class Measurer {
 public:
  static absl::StatusOr<Measurer> Make(Backend& backend, MeasureOptions options);

  // An error of one point (too large, wrong result) says nothing about the others.
  absl::StatusOr<Measurement> Measure(const Point& point);

 private:
  Measurer(Backend& backend, MeasureOptions options, std::unique_ptr<Stream> stream)
      : backend_(backend), options_(options), stream_(std::move(stream)) {}

  absl::Status Time(const Workload& workload, Measurement& measurement);
  // Time of a copy a byte, read and write counted: of the workload's x when that is large, else of
  // kLargeCopyBytes, once.
  absl::StatusOr<double> CopySecondsPerByte(const Workload& workload, int64_t rows);
  absl::StatusOr<double> LargeCopySecondsPerByte();

  Backend& backend_;
  MeasureOptions options_;
  std::unique_ptr<Stream> stream_;
  std::optional<double> large_copy_;
};

}  // namespace normd

#endif  // NORMD_TESTS_BENCH_KERNEL_MEASURE_H_
