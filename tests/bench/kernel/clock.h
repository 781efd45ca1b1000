// Clock: how long work takes on a device, from timed events of its own.
#ifndef NORMD_TESTS_BENCH_KERNEL_CLOCK_H_
#define NORMD_TESTS_BENCH_KERNEL_CLOCK_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/backend.h"

namespace normd {

struct ClockOptions {
  absl::Duration warm_up = absl::Milliseconds(15);  // run before the first sample
  absl::Duration measure = absl::Milliseconds(60);  // for about this long
  int min_samples = 10;                             // whatever they take
  int max_samples = 200;
};

// Quantiles of the samples, each the mean of the launches inside it.
struct Spread {
  absl::Duration median;
  absl::Duration p10;
  absl::Duration p90;
  int samples = 0;
};

// Enqueues the i-th launch, i = 0, 1, ...
using Enqueue = absl::FunctionRef<absl::Status(int64_t i)>;

// Times `enqueue`. Samples follow each other without a pause, so that the device never waits for
// the host while a launch takes longer than enqueueing it. A sample is several launches when one is
// shorter than an event can tell. Waits.
absl::StatusOr<Spread> TimeEvents(Backend& backend, Stream& stream, const ClockOptions& options,
                                  Enqueue enqueue);

// Times graphs of kGraphLaunches launches. REQUIRES: HasGraphs(backend).
inline constexpr int64_t kGraphLaunches = 100;
absl::StatusOr<Spread> TimeGraph(Backend& backend, Stream& stream, const ClockOptions& options,
                                 Enqueue enqueue);

// What the host spends in one call of `enqueue`, on an idle stream. Waits between the calls.
absl::StatusOr<Spread> TimeHost(Stream& stream, int samples, Enqueue enqueue);

}  // namespace normd

#endif  // NORMD_TESTS_BENCH_KERNEL_CLOCK_H_
