// A clock that a test sets by hand. Thread-safe.
#ifndef NORMD_TESTS_SERVER_MANUAL_CLOCK_H_
#define NORMD_TESTS_SERVER_MANUAL_CLOCK_H_

#include <map>

#include "absl/time/time.h"
#include "kernels/mutex.h"
#include "server/batching/clock.h"

namespace normd {

class ManualClock final : public Clock {
 public:
  absl::Time Now() override {
    MutexLock lock(mutex_);
    return now_;
  }

  void WaitUntil(CondVar& condition, Mutex& mutex, absl::Time time) override {
    {
      MutexLock lock(mutex_);
      if (now_ >= time) return;
      waiting_[&condition] = &mutex;
    }
    condition.Wait(mutex);  // Advance cannot signal before this: it takes `mutex` first
    MutexLock lock(mutex_);
    waiting_.erase(&condition);
  }

  void Advance(absl::Duration duration) {
    std::map<CondVar*, Mutex*> waiting;
    {
      MutexLock lock(mutex_);
      now_ += duration;
      waiting = waiting_;
    }
    for (const auto& [condition, mutex] : waiting) {
      MutexLock lock(*mutex);
      condition->SignalAll();
    }
  }

 private:
  Mutex mutex_;
  absl::Time now_ ABSL_GUARDED_BY(mutex_) = absl::UnixEpoch() + absl::Hours(1);
  std::map<CondVar*, Mutex*> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace normd

#endif  // NORMD_TESTS_SERVER_MANUAL_CLOCK_H_
