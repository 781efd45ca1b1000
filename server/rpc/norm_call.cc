#include "server/rpc/norm_call.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpcpp/support/slice.h"
#include "server/rpc/deadline.h"
#include "server/rpc/decode.h"
#include "server/rpc/encode.h"
#include "server/rpc/grpc_status.h"
#include "server/rpc/validate.h"
#include "spdlog/spdlog.h"

namespace normd {
void NormCall::Post(NormCallContext& context, grpc::ServerCompletionQueue& queue,
                    Direction direction) {
  auto* call = new NormCall(context, queue, direction);  // deletes itself (call.h)
  if (direction == Direction::kForward) {
    context.methods.RequestForward(&call->context_, &call->message_, &call->responder_, &queue,
                                   &queue, call->request_tag());
  } else {
    context.methods.RequestBackward(&call->context_, &call->message_, &call->responder_, &queue,
                                    &queue, call->request_tag());
  }
}

NormCall::NormCall(NormCallContext& context, grpc::ServerCompletionQueue& queue,
                   Direction direction)
    : Call(context.counter), shared_(context), queue_(queue), responder_(&context_) {
  record_.spec.direction = direction;
  WatchCancellation(context_);
}

void NormCall::PostNext() { Post(shared_, queue_, record_.spec.direction); }

void NormCall::Arrived() {
  shared_.telemetry.RequestStarted();
  id_ = shared_.next_request.fetch_add(1, std::memory_order_relaxed);
  arrived_ = shared_.worker.clock().Now();
  deadline_ = DeadlineOf(context_, arrived_);
  record_.received_bytes = static_cast<int64_t>(message_.Length());
  record_.ended_in = Stage::kDecode;
  const absl::Status status = Prepare();
  message_.Clear();  // before the launch: the tensors are staged
  record_.decode = shared_.worker.clock().Now() - arrived_;
  if (!status.ok()) return Fail(status);
  Submit();
}

absl::Status NormCall::Prepare() {
  if (absl::Status status = Admit(); !status.ok()) return status;
  return Read();
}

absl::Status NormCall::Admit() const {
  if (shared_.draining.load(std::memory_order_relaxed)) {
    shared_.telemetry.Rejected("draining");
    return absl::UnavailableError("the server is draining");
  }
  if (deadline_ <= arrived_) {
    return absl::DeadlineExceededError("the deadline passed before the request was read");
  }
  if (record_.received_bytes > shared_.max_message_bytes) {
    shared_.telemetry.Rejected("message_size");
    return absl::ResourceExhaustedError(absl::StrCat("the message has ", record_.received_bytes,
                                                     " bytes; the limit is ",
                                                     shared_.max_message_bytes));
  }
  return absl::OkStatus();
}

absl::Status NormCall::Read() {
  std::vector<grpc::Slice> slices;
  if (message_.Valid() && !message_.Dump(&slices).ok()) {
    return absl::InvalidArgumentError("request: cannot be decompressed");
  }
  const auto header = Decode(slices, record_.spec.direction);
  if (!header.ok()) return header.status();
  const auto request = ValidateRequest(*header);
  if (!request.ok()) return request.status();
  record_.spec = request->spec;
  record_.rows = request->rows;
  record_.spec_known = true;
  auto staged = Stage(*header, *request, slices, shared_.worker.staging());
  if (!staged.ok()) {
    shared_.telemetry.Rejected("staging");
    return staged.status();
  }
  staged_ = *std::move(staged);
  return absl::OkStatus();
}

void NormCall::Submit() {
  auto job = std::make_unique<Job>();
  job->id = id_;
  job->spec = record_.spec;
  job->segment = staged_.segment;
  job->bytes = staged_.block->bytes();
  job->deadline = deadline_;
  job->done = [this](const JobResult& result) { JobDone(result); };
  record_.ended_in = Stage::kQueue;
  shared_.worker.Submit(std::move(job));
}

void NormCall::Cancelled() {
  // Before the submission there is nothing to cancel: this thread submits.
  const absl::Time now = shared_.worker.clock().Now();
  shared_.worker.Cancel(id_, WhyCancelled(arrived_, deadline_, now));
}

void NormCall::JobDone(const JobResult& result) {
  job_ended_ = shared_.worker.clock().Now();
  record_.queue = result.queue;
  record_.kernel = result.kernel;
  if (!result.status.ok()) return Fail(result.status);
  record_.ended_in = Stage::kEncode;
  Reply(result);
}

void NormCall::Reply(const JobResult& result) {
  v1::Execution execution;
  execution.set_batch_rows(result.batch_rows);
  execution.set_batch_requests(result.batch_requests);
  execution.set_device(shared_.worker.info().name);
  execution.set_kernel(result.kernel_name);
  const absl::Time now = shared_.worker.clock().Now();
  record_.encode = now - job_ended_;
  record_.total = now - arrived_;
  v1::Timings& timings = *execution.mutable_timings();
  timings.set_decode_ns(absl::ToInt64Nanoseconds(record_.decode));
  timings.set_queue_ns(absl::ToInt64Nanoseconds(record_.queue));
  timings.set_kernel_ns(absl::ToInt64Nanoseconds(record_.kernel));
  timings.set_encode_ns(absl::ToInt64Nanoseconds(record_.encode));
  timings.set_total_ns(absl::ToInt64Nanoseconds(record_.total));
  const grpc::ByteBuffer reply = EncodeReply(staged_, execution);
  staged_.block.reset();  // from here on the reply alone holds it
  record_.sent_bytes = static_cast<int64_t>(reply.Length());
  Observe(absl::OkStatus());
  responder_.Finish(reply, grpc::Status::OK, finish_tag());
}

void NormCall::Fail(const absl::Status& status) {
  staged_.block.reset();
  record_.total = shared_.worker.clock().Now() - arrived_;
  Observe(status);
  responder_.FinishWithError(ToGrpcStatus(status), finish_tag());
}

void NormCall::Observe(const absl::Status& status) {
  record_.code = status.code();
  shared_.telemetry.RequestFinished(record_);
  spdlog::debug("request {}: {} in {}", id_, absl::StatusCodeToString(record_.code),
                absl::FormatDuration(record_.total));
}

}  // namespace normd
