#include "server/transport.h"

#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/impl/server_builder_option.h"
#include "grpcpp/impl/server_builder_plugin.h"
#include "grpcpp/resource_quota.h"
#include "grpcpp/security/server_credentials.h"

namespace normd {
namespace {

constexpr const char* kHealthNames[] = {"", "normd.v1.NormService", "normd.v1.BufferService",
                                        "normd.v1.AdminService"};

// A connection that does not answer a keepalive ping for this long is closed.
constexpr absl::Duration kKeepaliveTimeout = absl::Seconds(20);

// gRPC's reflection library adds itself to every server of a process that links it.
class WithoutReflection final : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments* /*arguments*/) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    std::erase_if(*plugins,
                  [](const auto& plugin) { return plugin->name() == "proto_server_reflection"; });
  }
};

int Milliseconds(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

void SetLimits(const TransportOptions& options, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.max_message_bytes));
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE,
                             static_cast<int>(options.max_metadata_bytes));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             static_cast<int>(options.max_concurrent_streams));
  // Tensors do not compress, and a small compressed message can unpack to a huge one.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  grpc::ResourceQuota quota("normd");
  quota.Resize(static_cast<size_t>(options.memory_bytes));
  builder.SetResourceQuota(quota);
}

void SetKeepalive(const TransportOptions& options, grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, Milliseconds(options.keepalive_time));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Milliseconds(kKeepaliveTimeout));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             Milliseconds(options.min_ping_interval));
}

std::string BoundAddress(const ListenAddress& address, int port) {
  if (address.is_unix()) return address.text;
  return absl::StrCat(address.text.substr(0, address.text.rfind(':')), ":", port);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> Transport::Start(
    const TransportOptions& options,
    const std::function<void(grpc::ServerBuilder&)>& add_services) {
  std::unique_ptr<Transport> transport(new Transport);
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  if (!options.reflection) builder.SetOption(std::make_unique<WithoutReflection>());
  // Otherwise a second server binds the same port, and the kernel deals calls out to both.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  SetLimits(options, builder);
  SetKeepalive(options, builder);
  add_services(builder);
  std::vector<int> ports(options.listen.size(), 0);
  for (size_t i = 0; i < options.listen.size(); ++i) {
    const ListenAddress& address = options.listen[i];
    if (address.is_unix()) {
      absl::StatusOr<SocketLock> lock = SocketLock::Take(address.unix_path);
      if (!lock.ok()) return lock.status();
      transport->locks_.push_back(*std::move(lock));
    }
    builder.AddListeningPort(address.text, grpc::InsecureServerCredentials(), &ports[i]);
  }
  transport->server_ = builder.BuildAndStart();
  if (transport->server_ == nullptr) {
    // gRPC goes through the addresses in order and stops at the first that fails.
    size_t failed = 0;
    while (failed + 1 < ports.size() && ports[failed] > 0) ++failed;
    const ListenAddress& address = options.listen[failed];
    const std::string why = address.is_unix() ? "the socket cannot be made" : DiagnoseBind(address);
    return absl::UnavailableError(absl::StrCat("cannot listen on ", address.text, ": ", why));
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    transport->addresses_.push_back(BoundAddress(options.listen[i], ports[i]));
  }
  transport->SetServing(false);
  return transport;
}

void Transport::SetServing(bool serving) {
  for (const char* name : kHealthNames) {
    server_->GetHealthCheckService()->SetServingStatus(name, serving);
  }
}

void Transport::Shutdown(absl::Duration grace) {
  server_->Shutdown(std::chrono::system_clock::now() + absl::ToChronoNanoseconds(grace));
}

}  // namespace normd
