// A backend that blocks and fails on demand. y is a copy of x, every other output is zero. Memory
// is the heap's. Thread-safe.
#ifndef NORMD_TESTS_SERVER_FAKE_BACKEND_H_
#define NORMD_TESTS_SERVER_FAKE_BACKEND_H_

#include <memory>

#include "kernels/backend.h"
#include "kernels/mutex.h"

namespace normd {

class FakeBackend final : public Backend {
 public:
  // What Elapsed says.
  static constexpr absl::Duration kKernelTime = absl::Microseconds(7);

  // While held, launched work does not complete.
  void Hold();
  void Release();
  // The next launch fails; nothing is enqueued.
  void FailNextLaunch();
  // Events and streams report an error from now on.
  void Lose();

  int launches();
  // Waits until so many launches were made.
  void WaitForLaunches(int count);

  const DeviceInfo& info() const override { return info_; }
  absl::StatusOr<Memory> Allocate(int64_t bytes, MemoryKind kind) override;
  absl::StatusOr<std::unique_ptr<Stream>> NewStream() override;
  absl::StatusOr<std::unique_ptr<Event>> NewEvent(bool timed) override;
  absl::StatusOr<absl::Duration> Elapsed(Event& start, Event& end) override;
  absl::StatusOr<LaunchInfo> Forward(const NormSpec& spec, absl::Span<const Segment> segments,
                                     Stream& stream) override;
  absl::StatusOr<LaunchInfo> Backward(const NormSpec& spec, absl::Span<const Segment> segments,
                                      Stream& stream) override;

 private:
  class FakeEvent;
  class FakeStream;

  absl::Status Wait();
  absl::StatusOr<LaunchInfo> Launch();

  const DeviceInfo info_{.name = "fake:0", .model = "fake", .memory_bytes = 0, .max_segments = 1};
  Mutex mutex_;
  CondVar changed_;
  bool held_ ABSL_GUARDED_BY(mutex_) = false;
  bool fail_next_ ABSL_GUARDED_BY(mutex_) = false;
  bool lost_ ABSL_GUARDED_BY(mutex_) = false;
  int launches_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace normd

#endif  // NORMD_TESTS_SERVER_FAKE_BACKEND_H_
