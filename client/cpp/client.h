// Client: synchronous calls of one normd server.
//
//   normd::Client client("127.0.0.1:50051");
//   normd::ForwardCall call;
//   call.op.eps = 1e-5f;
//   call.x = normd::View(normd::DataType::kFloat32, {rows, 64}, x);  // std::vector<float> x
//   call.y = normd::Output::Into(y);                                 // std::vector<float> y
//   absl::StatusOr<normd::ForwardResult> result = client.LayerNorm(call);
//
// Thread-safe; threads share one connection, which is made by the first call and again when it
// breaks. A call waits for its reply. Operands are sent from the caller's memory without a copy and
// may be changed or freed as soon as the call has returned, however it ended. Bytes received are
// copied once, into the memory that the Output named.
//
// Errors are those of the server: INVALID_ARGUMENT with the field (FieldOf in
// kernels/field_error.h), RESOURCE_EXHAUSTED with a delay (RetryDelayOf), DEADLINE_EXCEEDED,
// UNAVAILABLE (no server, or it drains), and so on. A message over 2 GiB is RESOURCE_EXHAUSTED
// before anything is sent.
//
// A Client does not survive a fork; make one in the child, before which the parent must not have
// used gRPC.
#ifndef NORMD_CLIENT_CPP_CLIENT_H_
#define NORMD_CLIENT_CPP_CLIENT_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cpp/calls.h"
#include "client/cpp/tensor.h"

namespace normd {

struct ClientOptions {
  // Of a call that has no timeout of its own. Positive and finite.
  absl::Duration timeout = absl::Seconds(30);
  // Whether the constructor calls TuneAllocator.
  bool tune_allocator = true;
};

struct CallOptions {
  // Absent: ClientOptions::timeout. Positive and finite.
  std::optional<absl::Duration> timeout;
  // Sent along; keys in lower case.
  std::vector<std::pair<std::string, std::string>> metadata;
};

class Client {
 public:
  // `target`: "host:port" or "unix:/path". Does not connect yet; a server that is not there is
  // UNAVAILABLE at the first call.
  explicit Client(const std::string& target, const ClientOptions& options = {});
  ~Client();  // REQUIRES: no call is running
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  absl::StatusOr<ForwardResult> LayerNorm(const ForwardCall& call, const CallOptions& options = {});
  absl::StatusOr<ForwardResult> RmsNorm(const ForwardCall& call, const CallOptions& options = {});
  absl::StatusOr<BackwardResult> LayerNormBackward(const BackwardCall& call,
                                                   const CallOptions& options = {});
  absl::StatusOr<BackwardResult> RmsNormBackward(const BackwardCall& call,
                                                 const CallOptions& options = {});

 private:
  class Connection;

  absl::StatusOr<ForwardResult> Forward(NormKind kind, const ForwardCall& call,
                                        const CallOptions& options);
  absl::StatusOr<BackwardResult> Backward(NormKind kind, const BackwardCall& call,
                                          const CallOptions& options);

  std::unique_ptr<Connection> connection_;
};

// The delay after which the server suggests to try again; absent when it suggested none.
std::optional<absl::Duration> RetryDelayOf(const absl::Status& status);

// Tells glibc's malloc to keep freed memory: by default every large message pays page faults, which
// cost several times its transfer. The process stays at its peak size then. For the whole process,
// once; done by the first Client unless ClientOptions::tune_allocator is false. Does nothing when
// NORMD_TUNE_ALLOCATOR=0 is in the environment, or without glibc. Returns whether it is in force.
bool TuneAllocator();

}  // namespace normd

#endif  // NORMD_CLIENT_CPP_CLIENT_H_
