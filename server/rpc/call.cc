#include "server/rpc/call.h"

namespace normd {

void CallCounter::Posted() {
  MutexLock lock(mutex_);
  ++live_;
}

void CallCounter::Accepted() {
  MutexLock lock(mutex_);
  ++arrived_;
  ++unanswered_;
}

void CallCounter::Answered() {
  MutexLock lock(mutex_);
  if (--unanswered_ == 0) changed_.SignalAll();
}

void CallCounter::Gone() {
  MutexLock lock(mutex_);
  if (--live_ == 0) changed_.SignalAll();
}

void CallCounter::Stop() {
  MutexLock lock(mutex_);
  stopped_ = true;
}

bool CallCounter::stopped() {
  MutexLock lock(mutex_);
  return stopped_;
}

int64_t CallCounter::arrived() {
  MutexLock lock(mutex_);
  return arrived_;
}

int64_t CallCounter::unanswered() {
  MutexLock lock(mutex_);
  return unanswered_;
}

bool CallCounter::WaitAnswered(Clock& clock, absl::Time deadline) {
  MutexLock lock(mutex_);
  while (unanswered_ > 0) {
    if (clock.Now() >= deadline) return false;
    clock.WaitUntil(changed_, mutex_, deadline);
  }
  return true;
}

void CallCounter::WaitGone() {
  MutexLock lock(mutex_);
  while (live_ > 0) changed_.Wait(mutex_);
}

void Call::ServeQueue(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  while (queue.Next(&tag, &ok)) {
    const Tag& event = *static_cast<Tag*>(tag);
    (event.call->*event.handle)(ok);
  }
}

void Call::WatchCancellation(grpc::ServerContext& context) {
  watched_ = &context;
  ++events_due_;
  context.AsyncNotifyWhenDone(&done_);
}

void Call::OnRequest(bool ok) {
  if (!ok) {  // the server is shut down; no other event comes
    delete this;
    return;
  }
  if (!counter_.stopped()) PostNext();
  counter_.Accepted();
  Arrived();
}

void Call::OnDone(bool /*ok*/) {
  if (watched_->IsCancelled()) Cancelled();
  EventSeen();
}

void Call::OnFinished(bool /*ok*/) {
  counter_.Answered();
  EventSeen();
}

void Call::EventSeen() {
  if (--events_due_ == 0) delete this;
}

}  // namespace normd
