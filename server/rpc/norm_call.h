// NormCall: one Forward or Backward call as its stages.
//
//   Prepare   admit -> decode -> validate -> stage        on the queue's thread
//   (wait)    in the worker's inbox, then on the device
//   JobDone   encode -> answer                            on the worker's thread
//
// The answer is sent from the thread that saw the job end, which saves a hop through the queue.
#ifndef NORMD_SERVER_RPC_NORM_CALL_H_
#define NORMD_SERVER_RPC_NORM_CALL_H_

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/async_unary_call.h"
#include "grpcpp/support/byte_buffer.h"
#include "normd/v1/norm.grpc.pb.h"
#include "server/batching/job.h"
#include "server/execution/device_worker.h"
#include "server/rpc/call.h"
#include "server/rpc/staged_request.h"
#include "server/telemetry/telemetry.h"

namespace normd {

// The methods of NormService, as they are registered: Forward and Backward raw, the others by name.
using NormMethods = v1::NormService::WithRawMethod_Forward<
    v1::NormService::WithRawMethod_Backward<v1::NormService::WithGenericMethod_Batch<
        v1::NormService::WithGenericMethod_Execute<v1::NormService::Service>>>>;

// What all calls of a service share.
struct NormCallContext {
  NormMethods& methods;
  DeviceWorker& worker;
  Telemetry& telemetry;
  CallCounter& counter;
  const int64_t max_message_bytes;
  std::atomic<bool> draining = false;
  std::atomic<uint64_t> next_request = 1;
};

class NormCall final : public Call {
 public:
  // Makes a call that waits for a request of this direction. The context and the queue outlive it.
  static void Post(NormCallContext& context, grpc::ServerCompletionQueue& queue,
                   Direction direction);

 private:
  NormCall(NormCallContext& context, grpc::ServerCompletionQueue& queue, Direction direction);

  void PostNext() override;
  void Arrived() override;
  void Cancelled() override;

  absl::Status Prepare();
  absl::Status Admit() const;
  absl::Status Read();
  void Submit();
  void JobDone(const JobResult& result);
  void Reply(const JobResult& result);
  void Fail(const absl::Status& status);
  // The last look at the request: after it only Finish is called.
  void Observe(const absl::Status& status);

  NormCallContext& shared_;
  grpc::ServerCompletionQueue& queue_;

  grpc::ServerContext context_;
  grpc::ByteBuffer message_;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> responder_;

  uint64_t id_ = 0;
  absl::Time arrived_;
  absl::Time deadline_;
  absl::Time job_ended_;
  RequestRecord record_;
  StagedRequest staged_;
};

}  // namespace normd

#endif  // NORMD_SERVER_RPC_NORM_CALL_H_
