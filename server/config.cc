#include "server/config.h"

#include <algorithm>
#include <set>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/flags.h"

namespace normd {
namespace {

absl::Status FlagError(absl::string_view flag, absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("--", flag, ": ", text));
}

absl::Status AddListeners(TransportOptions& transport) {
  std::set<std::string> seen;
  for (const std::string& text : absl::GetFlag(FLAGS_listen)) {
    absl::StatusOr<ListenAddress> address = ParseListenAddress(text);
    if (!address.ok()) return FlagError("listen", address.status().message());
    if (!address->is_local() && !absl::GetFlag(FLAGS_insecure)) {
      return FlagError("listen", absl::StrCat("'", text,
                                              "' can be reached from other machines, in plain text "
                                              "and without authentication; allow that with "
                                              "--insecure"));
    }
    const bool any_port = !address->is_unix() && address->port == 0;
    if (!any_port && !seen.insert(text).second) {
      return FlagError("listen", absl::StrCat("'", text, "' is given twice"));
    }
    transport.listen.push_back(*std::move(address));
  }
  if (transport.listen.empty()) return FlagError("listen", "names no address");
  return absl::OkStatus();
}

absl::Status AddMetrics(ServeConfig& config) {
  config.metrics_listen = absl::GetFlag(FLAGS_metrics_listen);
  config.metrics_max_shapes = static_cast<int>(absl::GetFlag(FLAGS_metrics_max_shapes));
  if (config.metrics_listen.empty()) return absl::OkStatus();
  const absl::StatusOr<ListenAddress> address = ParseListenAddress(config.metrics_listen);
  if (!address.ok()) return FlagError("metrics_listen", address.status().message());
  if (address->is_unix()) return FlagError("metrics_listen", "must be host:port");
  const auto& listen = config.transport.listen;
  const bool taken =
      address->port != 0 && std::any_of(listen.begin(), listen.end(), [&](const auto& other) {
        return other.text == config.metrics_listen;
      });
  if (taken) return FlagError("metrics_listen", "is the same address as --listen");
  return absl::OkStatus();
}

bool WantsReflection(const TransportOptions& transport) {
  const std::string choice = absl::GetFlag(FLAGS_reflection);
  if (choice != "auto") return choice == "on";
  return std::all_of(transport.listen.begin(), transport.listen.end(),
                     [](const ListenAddress& address) { return address.is_local(); });
}

// Limits that must hold one largest message at least.
absl::Status CheckRoomForMessages(const ServeConfig& config) {
  const int64_t message = config.transport.max_message_bytes;
  const auto too_small = [&](absl::string_view flag, int64_t bytes) {
    return FlagError(flag, absl::StrCat(bytes, " is less than --max_message_bytes (", message,
                                        "): the largest message would never fit"));
  };
  if (config.worker.staging_bytes < message) {
    return too_small("staging_bytes", config.worker.staging_bytes);
  }
  if (config.transport.memory_bytes < message) {
    return too_small("transport_memory_bytes", config.transport.memory_bytes);
  }
  return absl::OkStatus();
}

LogOptions MakeLogOptions() {
  LogOptions log;
  const std::string format = absl::GetFlag(FLAGS_log_format);
  const std::string level = absl::GetFlag(FLAGS_log_level);
  log.format = format == "json" ? LogFormat::kJson : LogFormat::kText;
  log.level = level == "debug"     ? LogLevel::kDebug
              : level == "warning" ? LogLevel::kWarning
              : level == "error"   ? LogLevel::kError
                                   : LogLevel::kInfo;
  return log;
}

}  // namespace

absl::StatusOr<ServeConfig> MakeServeConfig() {
  ServeConfig config;
  config.log = MakeLogOptions();
  absl::StatusOr<DeviceOptions> device = ParseDevices(absl::GetFlag(FLAGS_devices));
  if (!device.ok()) return FlagError("devices", device.status().message());
  config.device = *device;
  config.device.cpu_threads = static_cast<int>(absl::GetFlag(FLAGS_cpu_threads));
  config.worker.staging_bytes = absl::GetFlag(FLAGS_staging_bytes);
  config.worker.max_queue_requests = absl::GetFlag(FLAGS_max_queue_requests);
  config.worker.streams = static_cast<int>(absl::GetFlag(FLAGS_streams));
  config.norm.completion_threads = static_cast<int>(absl::GetFlag(FLAGS_completion_threads));
  config.norm.max_message_bytes = absl::GetFlag(FLAGS_max_message_bytes);
  TransportOptions& transport = config.transport;
  if (absl::Status status = AddListeners(transport); !status.ok()) return status;
  transport.reflection = WantsReflection(transport);
  transport.max_message_bytes = absl::GetFlag(FLAGS_max_message_bytes);
  transport.max_metadata_bytes = absl::GetFlag(FLAGS_max_metadata_bytes);
  transport.max_concurrent_streams = absl::GetFlag(FLAGS_max_concurrent_streams);
  transport.memory_bytes = absl::GetFlag(FLAGS_transport_memory_bytes);
  transport.keepalive_time = absl::GetFlag(FLAGS_keepalive_time);
  transport.min_ping_interval = absl::GetFlag(FLAGS_min_ping_interval);
  config.lifecycle.drain_delay = absl::GetFlag(FLAGS_drain_delay);
  config.lifecycle.drain_timeout = absl::GetFlag(FLAGS_drain_timeout);
  if (absl::Status status = AddMetrics(config); !status.ok()) return status;
  config.port_file = absl::GetFlag(FLAGS_port_file);
  config.tune_malloc = absl::GetFlag(FLAGS_tune_malloc);
  if (absl::Status status = CheckRoomForMessages(config); !status.ok()) return status;
  return config;
}

std::vector<std::pair<std::string, std::string>> EffectiveConfig() {
  std::vector<std::pair<std::string, std::string>> values;
  for (const FlagSpec& spec : ServeFlags()) {
    const absl::string_view name(spec.name.data(), spec.name.size());
    values.emplace_back(spec.name, absl::FindCommandLineFlag(name)->CurrentValue());
  }
  return values;
}

}  // namespace normd
