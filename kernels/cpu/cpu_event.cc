#include "kernels/cpu/cpu_event.h"

#include "absl/time/clock.h"

namespace normd {

void RecordedPoint::Complete() {
  time_ = absl::Now();
  const MutexLock lock(mutex_);
  completed_.store(true, std::memory_order_release);
  completion_.SignalAll();
}

void RecordedPoint::Wait() {
  const MutexLock lock(mutex_);
  while (!completed()) completion_.Wait(mutex_);
}

absl::StatusOr<bool> CpuEvent::Query() {
  const std::shared_ptr<RecordedPoint> last = point();
  return last == nullptr || last->completed();
}

absl::Status CpuEvent::Synchronize() {
  if (const std::shared_ptr<RecordedPoint> last = point(); last != nullptr) last->Wait();
  return absl::OkStatus();
}

std::shared_ptr<RecordedPoint> CpuEvent::NewPoint() {
  auto made = std::make_shared<RecordedPoint>();
  const MutexLock lock(mutex_);
  point_ = made;
  return made;
}

std::shared_ptr<RecordedPoint> CpuEvent::point() {
  const MutexLock lock(mutex_);
  return point_;
}

}  // namespace normd
