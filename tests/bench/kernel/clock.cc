#include "tests/bench/kernel/clock.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "tests/bench/kernel/launch.h"

namespace normd {
namespace {

// Launches of a sample together take at least this.
constexpr absl::Duration kShortestSample = absl::Microseconds(100);

using EventPair = std::pair<std::unique_ptr<Event>, std::unique_ptr<Event>>;

absl::StatusOr<EventPair> NewEventPair(Backend& backend) {
  absl::StatusOr<std::unique_ptr<Event>> start = backend.NewEvent(/*timed=*/true);
  if (!start.ok()) return start.status();
  absl::StatusOr<std::unique_ptr<Event>> end = backend.NewEvent(/*timed=*/true);
  if (!end.ok()) return end.status();
  return EventPair(*std::move(start), *std::move(end));
}

// Nearest rank. REQUIRES: samples is sorted and not empty.
absl::Duration Quantile(const std::vector<absl::Duration>& samples, double quantile) {
  const double rank = std::ceil(quantile * static_cast<double>(samples.size()));
  return samples[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

Spread SpreadOf(std::vector<absl::Duration> samples) {
  std::sort(samples.begin(), samples.end());
  return {Quantile(samples, 0.5), Quantile(samples, 0.1), Quantile(samples, 0.9),
          static_cast<int>(samples.size())};
}

// One thing timed by events.
class Run {
 public:
  Run(Backend& backend, Stream& stream, Enqueue enqueue)
      : backend_(backend), stream_(stream), enqueue_(enqueue) {}

  // Time of each launch, from `samples` samples of `each` launches.
  absl::StatusOr<std::vector<absl::Duration>> Samples(int samples, int64_t each) {
    std::vector<EventPair> events;
    for (int i = 0; i < samples; ++i) {
      absl::StatusOr<EventPair> pair = NewEventPair(backend_);
      if (!pair.ok()) return pair.status();
      events.push_back(*std::move(pair));
    }
    for (EventPair& pair : events) {
      absl::Status status = stream_.Record(*pair.first);
      for (int64_t i = 0; i < each && status.ok(); ++i) status = enqueue_(next_++);
      if (status.ok()) status = stream_.Record(*pair.second);
      if (!status.ok()) return status;
    }
    if (absl::Status status = stream_.Synchronize(); !status.ok()) return status;
    std::vector<absl::Duration> times;
    for (EventPair& pair : events) {
      absl::StatusOr<absl::Duration> elapsed = backend_.Elapsed(*pair.first, *pair.second);
      if (!elapsed.ok()) return elapsed.status();
      times.push_back(*elapsed / each);
    }
    return times;
  }

 private:
  Backend& backend_;
  Stream& stream_;
  Enqueue enqueue_;
  int64_t next_ = 0;
};

int Clamped(double samples, const ClockOptions& options) {
  return static_cast<int>(std::clamp(samples, static_cast<double>(options.min_samples),
                                     static_cast<double>(options.max_samples)));
}

// Samples of whole `enqueue` calls; a call shorter than kShortestSample is run several times a
// sample.
absl::StatusOr<Spread> TimeCalls(Backend& backend, Stream& stream, const ClockOptions& options,
                                 Enqueue enqueue) {
  Run run(backend, stream, enqueue);
  // The first call may load code, the second tells how long one takes.
  for (int i = 0; i < 2; ++i) {
    absl::StatusOr<std::vector<absl::Duration>> warm = run.Samples(1, 1);
    if (!warm.ok()) return warm.status();
  }
  absl::StatusOr<std::vector<absl::Duration>> first = run.Samples(3, 1);
  if (!first.ok()) return first.status();
  const absl::Duration one = std::max(SpreadOf(*first).median, absl::Nanoseconds(100));
  const int warm_up = Clamped(absl::FDivDuration(options.warm_up, one), {.min_samples = 1});
  absl::StatusOr<std::vector<absl::Duration>> warm = run.Samples(warm_up, 1);
  if (!warm.ok()) return warm.status();
  const absl::Duration steady = std::max(SpreadOf(*warm).median, absl::Nanoseconds(100));
  const auto each =
      static_cast<int64_t>(std::max(1.0, std::ceil(absl::FDivDuration(kShortestSample, steady))));
  const double samples = absl::FDivDuration(options.measure, steady * static_cast<double>(each));
  absl::StatusOr<std::vector<absl::Duration>> times = run.Samples(Clamped(samples, options), each);
  if (!times.ok()) return times.status();
  return SpreadOf(*std::move(times));
}

}  // namespace

absl::StatusOr<Spread> TimeEvents(Backend& backend, Stream& stream, const ClockOptions& options,
                                  Enqueue enqueue) {
  return TimeCalls(backend, stream, options, enqueue);
}

absl::StatusOr<Spread> TimeGraph(Backend& backend, Stream& stream, const ClockOptions& options,
                                 Enqueue enqueue) {
  // What is allocated or loaded lazily must be there before the recording.
  absl::Status status = enqueue(0);
  if (status.ok()) status = stream.Synchronize();
  if (!status.ok()) return status;
  absl::StatusOr<std::unique_ptr<LaunchGraph>> graph = RecordGraph(stream, [&]() -> absl::Status {
    absl::Status recorded;
    for (int64_t i = 0; i < kGraphLaunches && recorded.ok(); ++i) recorded = enqueue(i);
    return recorded;
  });
  if (!graph.ok()) return graph.status();
  absl::StatusOr<Spread> replays =
      TimeCalls(backend, stream, options, [&graph](int64_t /*i*/) { return (*graph)->Replay(); });
  if (!replays.ok()) return replays;
  replays->median /= kGraphLaunches;
  replays->p10 /= kGraphLaunches;
  replays->p90 /= kGraphLaunches;
  return replays;
}

absl::StatusOr<Spread> TimeHost(Stream& stream, int samples, Enqueue enqueue) {
  std::vector<absl::Duration> times;
  for (int i = 0; i < samples; ++i) {
    const absl::Time start = absl::Now();
    absl::Status status = enqueue(i);
    times.push_back(absl::Now() - start);
    if (status.ok()) status = stream.Synchronize();
    if (!status.ok()) return status;
  }
  return SpreadOf(std::move(times));
}

}  // namespace normd
