#include "server/telemetry/metrics_server.h"

#include <exception>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace normd {

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(
    const std::string& address,
    std::vector<std::shared_ptr<prometheus::Collectable>> collectables) {
  std::unique_ptr<MetricsServer> server(new MetricsServer);
  server->collectables_ = std::move(collectables);
  try {
    server->exposer_ = std::make_unique<prometheus::Exposer>(address, /*num_threads=*/2);
    for (const auto& collectable : server->collectables_) {
      server->exposer_->RegisterCollectable(collectable, "/metrics");
    }
  } catch (const std::exception&) {
    // The library's text says neither the address nor the reason.
    return absl::UnavailableError(absl::StrCat(
        "cannot listen on ", address, ": the port is taken or the address is not this machine's"));
  }
  const std::vector<int> ports = server->exposer_->GetListeningPorts();
  const std::string host = address.substr(0, address.rfind(':'));
  server->address_ = absl::StrCat(host, ":", ports.empty() ? 0 : ports.front());
  return server;
}

}  // namespace normd
