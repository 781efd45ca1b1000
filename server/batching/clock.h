// Clock: monotonic time, injected so that tests set it by hand and never sleep.
//
// Readings are absl::Time on a scale of their own whose origin means nothing: a jump of the system
// clock moves no deadline. Thread-safe.
#ifndef NORMD_SERVER_BATCHING_CLOCK_H_
#define NORMD_SERVER_BATCHING_CLOCK_H_

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "kernels/mutex.h"

namespace normd {

class Clock {
 public:
  virtual ~Clock() = default;

  virtual absl::Time Now() = 0;

  // Waits on `condition` up to `time`; may return early. absl::InfiniteFuture(): no limit.
  virtual void WaitUntil(CondVar& condition, Mutex& mutex, absl::Time time)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) = 0;

  // The steady clock of the machine. Lives as long as the process.
  static Clock& Real();
};

}  // namespace normd

#endif  // NORMD_SERVER_BATCHING_CLOCK_H_
