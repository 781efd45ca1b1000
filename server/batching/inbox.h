// Inbox: the bounded queue of jobs that wait for one device, first in, first out, with the
// deadlines of what waits in it.
//
// Thread-safe. A job that leaves the queue is owned by whoever took it; nobody else saw it leave.
#ifndef NORMD_SERVER_BATCHING_INBOX_H_
#define NORMD_SERVER_BATCHING_INBOX_H_

#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kernels/mutex.h"
#include "server/batching/clock.h"
#include "server/batching/job.h"

namespace normd {

class Inbox {
 public:
  // REQUIRES: max_jobs >= 1
  Inbox(Clock& clock, int64_t max_jobs);
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Takes the job, or leaves it with the caller: RESOURCE_EXHAUSTED with a retry delay at the
  // bound, UNAVAILABLE after Close.
  absl::Status Push(std::unique_ptr<Job>& job);

  // Waits for a job. Null: closed and empty.
  std::unique_ptr<Job> Pop();

  // The job with this id, or null when it is not, or no longer, in the queue.
  std::unique_ptr<Job> Remove(uint64_t id);

  // Waits until the deadline of a queued job passes, and takes all such jobs. Empty: closed.
  std::vector<std::unique_ptr<Job>> WaitExpired();

  // Takes everything.
  std::vector<std::unique_ptr<Job>> TakeAll();

  // From now on nothing enters, and nobody waits.
  void Close();

 private:
  using Queue = std::list<std::unique_ptr<Job>>;

  std::unique_ptr<Job> Take(Queue::iterator at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Clock& clock_;
  const int64_t max_jobs_;

  Mutex mutex_;
  CondVar work_;
  CondVar deadline_;
  Queue queue_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, Queue::iterator> by_id_ ABSL_GUARDED_BY(mutex_);
  std::set<std::pair<absl::Time, uint64_t>> by_deadline_ ABSL_GUARDED_BY(mutex_);
  // When WaitExpired looks next. Only an earlier deadline wakes it, so that a stream of calls with
  // ordinary deadlines does not.
  absl::Time next_look_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace normd

#endif  // NORMD_SERVER_BATCHING_INBOX_H_
