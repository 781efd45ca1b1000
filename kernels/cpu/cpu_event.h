// CpuEvent: a point in the work of a CpuStream.
#ifndef NORMD_KERNELS_CPU_CPU_EVENT_H_
#define NORMD_KERNELS_CPU_CPU_EVENT_H_

#include <atomic>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/backend.h"
#include "kernels/mutex.h"

namespace normd {

// One Record of an event. The stream that completes it shares it with the event and with streams
// that wait, so that an event can be recorded again, or end, while they still use it. Thread-safe.
class RecordedPoint {
 public:
  // Called once, by the stream.
  void Complete();
  void Wait();
  bool completed() const { return completed_.load(std::memory_order_acquire); }
  // REQUIRES: completed()
  absl::Time time() const { return time_; }

 private:
  absl::Time time_;
  std::atomic<bool> completed_ = false;
  Mutex mutex_;
  CondVar completion_;
};

class CpuEvent : public Event {
 public:
  explicit CpuEvent(bool timed) : timed_(timed) {}

  absl::StatusOr<bool> Query() override;
  absl::Status Synchronize() override;

  bool timed() const { return timed_; }
  // Makes the point of a new Record; the caller's stream completes it.
  std::shared_ptr<RecordedPoint> NewPoint() ABSL_LOCKS_EXCLUDED(mutex_);
  // Of the last Record; nullptr before the first.
  std::shared_ptr<RecordedPoint> point() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const bool timed_;
  Mutex mutex_;
  std::shared_ptr<RecordedPoint> point_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace normd

#endif  // NORMD_KERNELS_CPU_CPU_EVENT_H_
