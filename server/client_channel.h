// The channel with which `normd health` and `normd info` ask a server.
#ifndef NORMD_SERVER_CLIENT_CHANNEL_H_
#define NORMD_SERVER_CLIENT_CHANNEL_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "grpcpp/channel.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"

namespace normd {

// `address` is host:port or unix:/path. Proxies of the environment are not used: the address is the
// server's own.
inline std::shared_ptr<grpc::Channel> OpenChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

inline std::chrono::system_clock::time_point DeadlineIn(absl::Duration timeout) {
  return std::chrono::system_clock::now() + absl::ToChronoNanoseconds(timeout);
}

}  // namespace normd

#endif  // NORMD_SERVER_CLIENT_CHANNEL_H_
