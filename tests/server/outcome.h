// The end of a job, awaited by a test. Thread-safe.
#ifndef NORMD_TESTS_SERVER_OUTCOME_H_
#define NORMD_TESTS_SERVER_OUTCOME_H_

#include <functional>

#include "kernels/mutex.h"
#include "server/batching/job.h"

namespace normd {

class Outcome {
 public:
  // For Job::done.
  std::function<void(const JobResult&)> done() {
    return [this](const JobResult& result) {
      MutexLock lock(mutex_);
      result_ = result;
      ++times_;
      changed_.SignalAll();
    };
  }

  JobResult Wait() {
    MutexLock lock(mutex_);
    while (times_ == 0) changed_.Wait(mutex_);
    return result_;
  }

  int times() {
    MutexLock lock(mutex_);
    return times_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  JobResult result_ ABSL_GUARDED_BY(mutex_);
  int times_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace normd

#endif  // NORMD_TESTS_SERVER_OUTCOME_H_
