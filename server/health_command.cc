#include "server/health_command.h"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "server/client_channel.h"
#include "server/exit_codes.h"

namespace normd {
namespace {

// grpc.health.v1: HealthCheckRequest { string service = 1; }, HealthCheckResponse { enum status =
// 1; } with SERVING = 1. Written by hand: the distributions ship no health.proto.
constexpr uint32_t kServiceTag = 1 << 3 | 2;
constexpr uint32_t kStatusTag = 1 << 3 | 0;
constexpr uint32_t kServing = 1;

grpc::ByteBuffer Request(const std::string& service) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream out(&bytes);
    google::protobuf::io::CodedOutputStream coded(&out);
    coded.WriteTag(kServiceTag);
    coded.WriteVarint32(static_cast<uint32_t>(service.size()));
    coded.WriteString(service);
  }
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

std::optional<uint32_t> ReadStatus(grpc::ByteBuffer& response) {
  grpc::ProtoBufferReader reader(&response);
  google::protobuf::io::CodedInputStream coded(&reader);
  uint32_t status = 0;
  if (response.Length() == 0) return status;  // UNKNOWN, the default
  if (coded.ReadTag() != kStatusTag || !coded.ReadVarint32(&status)) return std::nullopt;
  return status;
}

grpc::Status Call(const std::string& address, const std::string& service, absl::Duration timeout,
                  grpc::ByteBuffer& response) {
  grpc::GenericStub stub(OpenChannel(address));
  grpc::ClientContext context;
  context.set_deadline(DeadlineIn(timeout));
  grpc::CompletionQueue queue;
  grpc::Status status;
  auto call =
      stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", Request(service), &queue);
  call->StartCall();
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  return status;
}

}  // namespace

int HealthCommand(const std::string& address, const std::string& service, absl::Duration timeout) {
  grpc::ByteBuffer response;
  const grpc::Status status = Call(address, service, timeout, response);
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) {
    std::printf("%s: no such service: '%s'\n", address.c_str(), service.c_str());
    return kExitFailed;
  }
  if (!status.ok()) {
    std::printf("%s: unreachable: %s\n", address.c_str(), status.error_message().c_str());
    return kExitUnreachable;
  }
  const bool serving = ReadStatus(response) == kServing;
  std::printf("%s: %s\n", address.c_str(), serving ? "serving" : "not serving");
  return serving ? kExitOk : kExitFailed;
}

}  // namespace normd
