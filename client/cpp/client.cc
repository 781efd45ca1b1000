#include "client/cpp/client.h"

#include <climits>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "client/cpp/call_status.h"
#include "client/cpp/loan.h"
#include "client/cpp/reply_reader.h"
#include "client/cpp/request_fields.h"
#include "client/cpp/request_writer.h"
#include "grpc/grpc.h"
#include "grpc/slice.h"
#include "grpc/support/time.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/security/credentials.h"
#include "kernels/field_error.h"
#include "normd/v1/norm.pb.h"

namespace normd {
namespace {

constexpr char kForwardMethod[] = "/normd.v1.NormService/Forward";
constexpr char kBackwardMethod[] = "/normd.v1.NormService/Backward";

// An operand and its field in the request; null when it was not given.
struct Sent {
  int field_number = 0;
  const Operand* operand = nullptr;
};

const Operand* Address(const std::optional<Operand>& operand) {
  return operand.has_value() ? &*operand : nullptr;
}

bool IsLocal(const std::string& target) {
  for (const char* prefix : {"localhost:", "127.", "[::1]:", "unix:", "unix-abstract:"}) {
    if (absl::StartsWith(target, prefix)) return true;
  }
  return false;
}

// gRPC ends the process over metadata that HTTP/2 cannot carry.
absl::Status CheckMetadata(const CallOptions& options) {
  for (const auto& [key, value] : options.metadata) {
    const grpc_slice key_slice = grpc_slice_from_static_buffer(key.data(), key.size());
    const grpc_slice value_slice = grpc_slice_from_static_buffer(value.data(), value.size());
    if (grpc_header_key_is_legal(key_slice) == 0) {
      return FieldError(
          "metadata", absl::StrCat("'", absl::CHexEscape(key), "' is not a key of 0-9 a-z _ . -"));
    }
    if (grpc_is_binary_header(key_slice) == 0 &&
        grpc_header_nonbin_value_is_legal(value_slice) == 0) {
      // The value may be a secret.
      return FieldError("metadata", absl::StrCat("'", key,
                                                 "' has a value that is not printable "
                                                 "ASCII, and a key without -bin"));
    }
  }
  return absl::OkStatus();
}

grpc::ChannelArguments ChannelArgumentsFor(const std::string& target) {
  grpc::ChannelArguments arguments;
  // The server has the limit that counts; gRPC's own for receiving is 4 MiB.
  arguments.SetMaxReceiveMessageSize(INT_MAX);
  arguments.SetMaxSendMessageSize(INT_MAX);
  // gRPC's default lets a client stay away for two minutes after its server came back.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  // TCP on this host is not the business of an HTTP proxy.
  if (IsLocal(target)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return arguments;
}

}  // namespace

// A connection to one server. Thread-safe.
class Client::Connection {
 public:
  Connection(const std::string& target, absl::Duration timeout)
      : stub_(grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(),
                                        ChannelArgumentsFor(target))),
        has_target_(!target.empty()),
        timeout_(timeout) {}

  // Sends `fields` and the operands, waits for the reply, and has the memory of the operands back
  // when it returns.
  absl::Status Call(const char* method, std::string fields, absl::Span<const Sent> operands,
                    const CallOptions& options, grpc::ByteBuffer& reply) {
    if (!has_target_) return FieldError("target", "is empty: host:port or unix:/path");
    const absl::Duration timeout = options.timeout.value_or(timeout_);
    if (timeout <= absl::ZeroDuration() || timeout == absl::InfiniteDuration()) {
      return FieldError("timeout",
                        absl::StrCat(absl::FormatDuration(timeout), " is not positive and finite"));
    }
    if (absl::Status status = CheckMetadata(options); !status.ok()) return status;
    // First made, last ended: everything below holds slices of it.
    Loan loan;
    RequestWriter writer(std::move(fields), loan);
    for (const Sent& sent : operands) {
      if (sent.operand != nullptr) writer.Add(sent.field_number, *sent.operand);
    }
    grpc::ByteBuffer request;
    if (absl::Status status = writer.Finish(request); !status.ok()) return status;
    grpc::ClientContext context;
    // Monotonic: a step of the system clock must not end calls.
    context.set_deadline(
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                     gpr_time_from_nanos(absl::ToInt64Nanoseconds(timeout), GPR_TIMESPAN)));
    for (const auto& [key, value] : options.metadata) context.AddMetadata(key, value);
    return ToStatus(Exchange(method, context, request, reply));
  }

 private:
  grpc::Status Exchange(const char* method, grpc::ClientContext& context,
                        const grpc::ByteBuffer& request, grpc::ByteBuffer& reply) {
    // A queue of the call's own: no thread is woken but this one.
    grpc::CompletionQueue queue;
    grpc::Status status;
    const auto call = stub_.PrepareUnaryCall(&context, method, request, &queue);
    call->StartCall();
    call->Finish(&reply, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    queue.Shutdown();
    while (queue.Next(&tag, &ok)) continue;
    return status;
  }

  grpc::GenericStub stub_;
  const bool has_target_;
  const absl::Duration timeout_;
};

Client::Client(const std::string& target, const ClientOptions& options) {
  if (options.tune_allocator) TuneAllocator();
  connection_ = std::make_unique<Connection>(target, options.timeout);
}

Client::~Client() = default;

absl::StatusOr<ForwardResult> Client::LayerNorm(const ForwardCall& call,
                                                const CallOptions& options) {
  return Forward(NormKind::kLayerNorm, call, options);
}

absl::StatusOr<ForwardResult> Client::RmsNorm(const ForwardCall& call, const CallOptions& options) {
  return Forward(NormKind::kRmsNorm, call, options);
}

absl::StatusOr<BackwardResult> Client::LayerNormBackward(const BackwardCall& call,
                                                         const CallOptions& options) {
  return Backward(NormKind::kLayerNorm, call, options);
}

absl::StatusOr<BackwardResult> Client::RmsNormBackward(const BackwardCall& call,
                                                       const CallOptions& options) {
  return Backward(NormKind::kRmsNorm, call, options);
}

absl::StatusOr<ForwardResult> Client::Forward(NormKind kind, const ForwardCall& call,
                                              const CallOptions& options) {
  using Request = v1::ForwardRequest;
  using Response = v1::ForwardResponse;
  absl::StatusOr<std::string> fields = ForwardFields(kind, call);
  if (!fields.ok()) return fields.status();
  grpc::ByteBuffer reply;
  const absl::Status status =
      connection_->Call(kForwardMethod, *std::move(fields),
                        {{Request::kXFieldNumber, &call.x},
                         {Request::kZFieldNumber, Address(call.z)},
                         {Request::kWeightFieldNumber, Address(call.weight)},
                         {Request::kBiasFieldNumber, Address(call.bias)},
                         {Request::kResidualFieldNumber, Address(call.residual)}},
                        options, reply);
  if (!status.ok()) return status;
  ForwardResult result;
  const Expected expected[] = {{Response::kYFieldNumber, "y", &call.y, &result.y},
                               {Response::kMeanFieldNumber, "mean", &call.mean, &result.mean},
                               {Response::kRstdFieldNumber, "rstd", &call.rstd, &result.rstd},
                               {Response::kResidualOutFieldNumber, "residual_out",
                                &call.residual_out, &result.residual_out}};
  if (absl::Status read = ReadReply(reply, expected, result.execution); !read.ok()) return read;
  return result;
}

absl::StatusOr<BackwardResult> Client::Backward(NormKind kind, const BackwardCall& call,
                                                const CallOptions& options) {
  using Request = v1::BackwardRequest;
  using Response = v1::BackwardResponse;
  absl::StatusOr<std::string> fields = BackwardFields(kind, call);
  if (!fields.ok()) return fields.status();
  grpc::ByteBuffer reply;
  const absl::Status status =
      connection_->Call(kBackwardMethod, *std::move(fields),
                        {{Request::kXFieldNumber, &call.x},
                         {Request::kDyFieldNumber, &call.dy},
                         {Request::kZFieldNumber, Address(call.z)},
                         {Request::kWeightFieldNumber, Address(call.weight)},
                         {Request::kBiasFieldNumber, Address(call.bias)},
                         {Request::kMeanFieldNumber, Address(call.mean)},
                         {Request::kRstdFieldNumber, Address(call.rstd)},
                         {Request::kDresidualOutFieldNumber, Address(call.dresidual_out)}},
                        options, reply);
  if (!status.ok()) return status;
  BackwardResult result;
  const Expected expected[] = {
      {Response::kDxFieldNumber, "dx", &call.dx, &result.dx},
      {Response::kDzFieldNumber, "dz", &call.dz, &result.dz},
      {Response::kDweightFieldNumber, "dweight", &call.dweight, &result.dweight},
      {Response::kDbiasFieldNumber, "dbias", &call.dbias, &result.dbias},
      {Response::kDresidualFieldNumber, "dresidual", &call.dresidual, &result.dresidual}};
  if (absl::Status read = ReadReply(reply, expected, result.execution); !read.ok()) return read;
  return result;
}

}  // namespace normd
