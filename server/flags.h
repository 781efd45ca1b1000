// The flags of each subcommand: their names, units and ranges, and their help.
//
// The values are Abseil flags, read by config.cc. Reading and writing flags is for the main thread
// before others start.
#ifndef NORMD_SERVER_FLAGS_H_
#define NORMD_SERVER_FLAGS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

// serve
ABSL_DECLARE_FLAG(std::vector<std::string>, listen);
ABSL_DECLARE_FLAG(bool, insecure);
ABSL_DECLARE_FLAG(std::string, metrics_listen);
ABSL_DECLARE_FLAG(int64_t, metrics_max_shapes);
ABSL_DECLARE_FLAG(std::string, port_file);
ABSL_DECLARE_FLAG(std::string, reflection);
ABSL_DECLARE_FLAG(std::string, devices);
ABSL_DECLARE_FLAG(int64_t, cpu_threads);
ABSL_DECLARE_FLAG(int64_t, streams);
ABSL_DECLARE_FLAG(int64_t, completion_threads);
ABSL_DECLARE_FLAG(int64_t, staging_bytes);
ABSL_DECLARE_FLAG(int64_t, max_queue_requests);
ABSL_DECLARE_FLAG(int64_t, max_message_bytes);
ABSL_DECLARE_FLAG(int64_t, max_metadata_bytes);
ABSL_DECLARE_FLAG(int64_t, max_concurrent_streams);
ABSL_DECLARE_FLAG(int64_t, transport_memory_bytes);
ABSL_DECLARE_FLAG(absl::Duration, keepalive_time);
ABSL_DECLARE_FLAG(absl::Duration, min_ping_interval);
ABSL_DECLARE_FLAG(absl::Duration, drain_delay);
ABSL_DECLARE_FLAG(absl::Duration, drain_timeout);
ABSL_DECLARE_FLAG(std::string, log_format);
ABSL_DECLARE_FLAG(std::string, log_level);
ABSL_DECLARE_FLAG(bool, tune_malloc);
// health, info
ABSL_DECLARE_FLAG(std::string, addr);
ABSL_DECLARE_FLAG(std::string, service);
ABSL_DECLARE_FLAG(absl::Duration, timeout);

namespace normd {

// What a flag takes beyond its type.
struct FlagSpec {
  std::string_view name;
  std::string_view unit = {};  // "bytes"; empty when the help text says it all
  // Numbers: least and greatest. Durations: the same in seconds. Both 0: no range.
  int64_t min = 0;
  int64_t max = 0;
  std::vector<std::string_view> choices = {};  // texts: the only ones allowed; empty: any
};

absl::Span<const FlagSpec> ServeFlags();
absl::Span<const FlagSpec> HealthFlags();
absl::Span<const FlagSpec> InfoFlags();

// OK, or INVALID_ARGUMENT "--name: ..." when the flag's value is out of its range or choices.
absl::Status CheckFlag(const FlagSpec& spec);

// "bytes, 1 to 9", "text or json", "0s to 1h": what CheckFlag holds the flag to.
std::string DescribeRange(const FlagSpec& spec);

// Help of all flags, each with unit, range, default and environment variable.
std::string FlagHelp(absl::Span<const FlagSpec> flags);

// "NORMD_MAX_MESSAGE_BYTES"
std::string EnvironmentName(std::string_view flag);

}  // namespace normd

#endif  // NORMD_SERVER_FLAGS_H_
