// Call: one call on a completion queue, from the moment it may arrive to the moment gRPC has let go
// of it. Hides tags and lifetimes, so that a handler reads as stages.
//
// A call is made waiting, and deletes itself. All its events come on the thread of its queue, one
// at a time; only Finish may be started on another thread, and after that call the handler touches
// nothing of its own.
#ifndef NORMD_SERVER_RPC_CALL_H_
#define NORMD_SERVER_RPC_CALL_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/server_context.h"
#include "kernels/mutex.h"
#include "server/batching/clock.h"

namespace normd {

// Counts calls, so that draining and shutting down can wait for them. Thread-safe.
class CallCounter {
 public:
  void Posted();    // a call waits for a request
  void Accepted();  // it has one
  void Answered();  // its answer is with the transport
  void Gone();      // gRPC has let go of it

  // From now on no call is posted in the place of one that arrived.
  void Stop();
  bool stopped();

  int64_t arrived();     // accepted so far
  int64_t unanswered();  // accepted and not answered

  // Every accepted call is answered. False: `deadline` passed first.
  bool WaitAnswered(Clock& clock, absl::Time deadline);
  // No call is left, posted ones included. They end when the grpc::Server is shut down.
  void WaitGone();

 private:
  Mutex mutex_;
  CondVar changed_;
  int64_t live_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t arrived_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t unanswered_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

class Call {
 public:
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Handles events of a queue until it is shut down and empty.
  static void ServeQueue(grpc::CompletionQueue& queue);

 protected:
  explicit Call(CallCounter& counter) : counter_(counter) { counter_.Posted(); }
  virtual ~Call() { counter_.Gone(); }

  // Makes the call that waits for the next request.
  virtual void PostNext() = 0;
  // The request is here. Leads to exactly one Finish with finish_tag().
  virtual void Arrived() = 0;
  // The client has gone, or its deadline has passed, before the answer was sent. Finish is still
  // due.
  virtual void Cancelled() {}

  // For the request of a call.
  void* request_tag() { return &request_; }
  // For Finish.
  void* finish_tag() { return &finish_; }
  // Asks for Cancelled. Before the request is posted.
  void WatchCancellation(grpc::ServerContext& context);

 private:
  struct Tag {
    Call* call;
    void (Call::*handle)(bool ok);
  };

  void OnRequest(bool ok);
  void OnDone(bool ok);
  void OnFinished(bool ok);
  void EventSeen();

  CallCounter& counter_;
  grpc::ServerContext* watched_ = nullptr;
  int events_due_ = 1;  // before gRPC has let go: finish, and done when watched
  Tag request_{this, &Call::OnRequest};
  Tag done_{this, &Call::OnDone};
  Tag finish_{this, &Call::OnFinished};
};

}  // namespace normd

#endif  // NORMD_SERVER_RPC_CALL_H_
