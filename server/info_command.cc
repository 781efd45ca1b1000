#include "server/info_command.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "normd/v1/admin.grpc.pb.h"
#include "server/client_channel.h"
#include "server/exit_codes.h"

namespace normd {
namespace {

std::string Describe(const v1::Device& device) {
  return absl::StrFormat("%s (%s), %.1f GiB, copy %.1f GB/s, %s", device.name(), device.model(),
                         static_cast<double>(device.memory_bytes()) / (1 << 30),
                         device.copy_bytes_per_second() / 1e9, device.up() ? "up" : "down");
}

std::string Describe(const v1::ServerInfoResponse& info) {
  std::string text = absl::StrCat("version   ", info.version(), "\ncommit    ", info.commit(),
                                  "\nbuild     ", info.build(), "\n");
  for (const v1::Device& device : info.devices()) {
    absl::StrAppend(&text, "device    ", Describe(device), "\n");
  }
  const v1::Limits& limits = info.limits();
  absl::StrAppend(&text, "limits    message ", limits.max_message_bytes(), " bytes, width ",
                  limits.max_width(), ", queue ", limits.max_queue_requests(),
                  " requests, staging ", limits.staging_bytes(), " bytes\n");
  absl::StrAppend(&text, "ops       ", absl::StrJoin(info.ops(), ", "), "\n");
  absl::StrAppend(&text, "features  ", absl::StrJoin(info.features(), ", "), "\n");
  return text;
}

}  // namespace

int InfoCommand(const std::string& address, absl::Duration timeout) {
  const auto stub = v1::AdminService::NewStub(OpenChannel(address));
  grpc::ClientContext context;
  context.set_deadline(DeadlineIn(timeout));
  v1::ServerInfoResponse info;
  const grpc::Status status = stub->ServerInfo(&context, {}, &info);
  if (!status.ok()) {
    std::fprintf(stderr, "normd info: %s: %s\n", address.c_str(), status.error_message().c_str());
    return kExitFailed;
  }
  std::fputs(Describe(info).c_str(), stdout);
  return kExitOk;
}

}  // namespace normd
