#include "server/batching/inbox.h"

#include "server/batching/retry.h"

namespace normd {
namespace {

// A full queue of small requests is served within tens of milliseconds.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(50);

}  // namespace

Inbox::Inbox(Clock& clock, int64_t max_jobs) : clock_(clock), max_jobs_(max_jobs) {}

absl::Status Inbox::Push(std::unique_ptr<Job>& job) {
  MutexLock lock(mutex_);
  if (closed_) return absl::UnavailableError("the server is shutting down");
  if (static_cast<int64_t>(queue_.size()) >= max_jobs_) {
    return RetryLater("too many requests wait for the device", kRetryDelay);
  }
  const uint64_t id = job->id;
  const absl::Time deadline = job->deadline;
  queue_.push_back(std::move(job));
  by_id_[id] = std::prev(queue_.end());
  if (deadline != absl::InfiniteFuture()) {
    by_deadline_.emplace(deadline, id);
    if (deadline < next_look_) {
      next_look_ = deadline;
      deadline_.SignalOne();
    }
  }
  work_.SignalOne();
  return absl::OkStatus();
}

std::unique_ptr<Job> Inbox::Take(Queue::iterator at) {
  std::unique_ptr<Job> job = std::move(*at);
  queue_.erase(at);
  by_id_.erase(job->id);
  by_deadline_.erase({job->deadline, job->id});
  return job;
}

std::unique_ptr<Job> Inbox::Pop() {
  MutexLock lock(mutex_);
  while (queue_.empty() && !closed_) work_.Wait(mutex_);
  return queue_.empty() ? nullptr : Take(queue_.begin());
}

std::unique_ptr<Job> Inbox::Remove(uint64_t id) {
  MutexLock lock(mutex_);
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : Take(found->second);
}

std::vector<std::unique_ptr<Job>> Inbox::WaitExpired() {
  MutexLock lock(mutex_);
  std::vector<std::unique_ptr<Job>> expired;
  while (!closed_) {
    const absl::Time now = clock_.Now();
    while (!by_deadline_.empty() && by_deadline_.begin()->first <= now) {
      expired.push_back(Take(by_id_.at(by_deadline_.begin()->second)));
    }
    next_look_ = by_deadline_.empty() ? absl::InfiniteFuture() : by_deadline_.begin()->first;
    if (!expired.empty()) break;
    clock_.WaitUntil(deadline_, mutex_, next_look_);
  }
  return expired;
}

std::vector<std::unique_ptr<Job>> Inbox::TakeAll() {
  MutexLock lock(mutex_);
  std::vector<std::unique_ptr<Job>> jobs;
  jobs.reserve(queue_.size());
  while (!queue_.empty()) jobs.push_back(Take(queue_.begin()));
  return jobs;
}

void Inbox::Close() {
  MutexLock lock(mutex_);
  closed_ = true;
  work_.SignalAll();
  deadline_.SignalAll();
}

}  // namespace normd
