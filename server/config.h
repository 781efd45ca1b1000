// The configuration of `normd serve`: one Options struct a component, made from the flags and
// validated once.
#ifndef NORMD_SERVER_CONFIG_H_
#define NORMD_SERVER_CONFIG_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/devices.h"
#include "server/execution/device_worker.h"
#include "server/lifecycle.h"
#include "server/rpc/norm_service.h"
#include "server/telemetry/log.h"
#include "server/transport.h"

namespace normd {

struct ServeConfig {
  LogOptions log;
  DeviceOptions device;
  DeviceWorkerOptions worker;
  NormServiceOptions norm;
  TransportOptions transport;
  LifecycleOptions lifecycle;
  std::string metrics_listen;  // empty: no metrics
  int metrics_max_shapes = 0;
  std::string port_file;  // empty: none
  bool tune_malloc = false;
};

// From the flags as they are now. INVALID_ARGUMENT with one line that names the flag, also when
// flags contradict each other.
// REQUIRES: CheckFlag accepts each of ServeFlags()
absl::StatusOr<ServeConfig> MakeServeConfig();

// The flags of `serve` and their values, for the log. None of them is a secret.
std::vector<std::pair<std::string, std::string>> EffectiveConfig();

}  // namespace normd

#endif  // NORMD_SERVER_CONFIG_H_
