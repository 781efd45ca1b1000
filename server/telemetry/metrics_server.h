// MetricsServer: serves /metrics over HTTP, on threads of its own.
#ifndef NORMD_SERVER_TELEMETRY_METRICS_SERVER_H_
#define NORMD_SERVER_TELEMETRY_METRICS_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "prometheus/collectable.h"
#include "prometheus/exposer.h"

namespace normd {

class MetricsServer {
 public:
  // Listens on `address` (host:port, port 0 = any) and serves what the collectables say.
  // UNAVAILABLE with the address in the text when it cannot listen there.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(
      const std::string& address,
      std::vector<std::shared_ptr<prometheus::Collectable>> collectables);

  // host:port that it listens on.
  const std::string& address() const { return address_; }

 private:
  MetricsServer() = default;

  std::string address_;
  std::vector<std::shared_ptr<prometheus::Collectable>> collectables_;
  std::unique_ptr<prometheus::Exposer> exposer_;  // last: its threads use the collectables
};

}  // namespace normd

#endif  // NORMD_SERVER_TELEMETRY_METRICS_SERVER_H_
