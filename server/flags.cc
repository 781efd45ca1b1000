#include "server/flags.h"

#include <optional>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

ABSL_FLAG(std::vector<std::string>, listen, {"127.0.0.1:50051"},
          "Addresses for gRPC: host:port or unix:/path, separated by commas or by repeating the "
          "flag; port 0 takes a free one. The path of a Unix socket has at most 107 bytes; who may "
          "connect to it is up to the umask.");
ABSL_FLAG(bool, insecure, false,
          "Allow plain-text TCP on addresses that are not loopback: whoever reaches the port can "
          "use the server.");
ABSL_FLAG(std::string, metrics_listen, "127.0.0.1:9464",
          "host:port of the Prometheus endpoint /metrics; empty for none, port 0 for a free one.");
ABSL_FLAG(int64_t, metrics_max_shapes, 128,
          "Shapes that get series of their own; the rest is counted as \"other\".");
ABSL_FLAG(std::string, port_file, "",
          "Write a JSON file with the process id and the addresses when the server is ready; "
          "removed at its end.");
ABSL_FLAG(std::string, reflection, "auto",
          "gRPC reflection. auto: on when every address is loopback or a Unix socket.");
ABSL_FLAG(std::string, devices, "auto",
          "auto, cpu, or the number of a CUDA device. auto: CUDA device 0 when this build has CUDA "
          "and the machine has a device, else the CPU. One device is used.");
ABSL_FLAG(int64_t, cpu_threads, 0,
          "Threads of the CPU backend; 0: one a core. Results do not depend on it.");
ABSL_FLAG(int64_t, streams, 1, "Launches that may run at once on the device.");
ABSL_FLAG(int64_t, completion_threads, 1,
          "Threads that take requests and send replies. One serves tens of thousands of calls a "
          "second; more than that helps on many cores only.");
ABSL_FLAG(int64_t, staging_bytes, int64_t{1} << 30,
          "Memory, taken at start, for operands and results of the requests in flight; at least "
          "--max_message_bytes.");
ABSL_FLAG(int64_t, max_queue_requests, 4096,
          "Requests that may wait for the device; more are answered RESOURCE_EXHAUSTED.");
ABSL_FLAG(int64_t, max_message_bytes, (int64_t{256} << 20) + (int64_t{64} << 10),
          "Largest request; a larger one is answered RESOURCE_EXHAUSTED.");
ABSL_FLAG(int64_t, max_metadata_bytes, 16384, "Metadata of one call.");
ABSL_FLAG(int64_t, max_concurrent_streams, 1024,
          "Calls that one connection may have open; more wait in the client.");
ABSL_FLAG(int64_t, transport_memory_bytes, int64_t{2} << 30,
          "Memory that gRPC may hold for messages on their way in; at least --max_message_bytes.");
ABSL_FLAG(absl::Duration, keepalive_time, absl::Seconds(60),
          "Silence after which the server pings a connection; one that does not answer within 20 s "
          "is closed.");
ABSL_FLAG(absl::Duration, min_ping_interval, absl::Seconds(10),
          "Least time between keepalive pings of a client; a client that pings more often is "
          "disconnected (too_many_pings).");
ABSL_FLAG(absl::Duration, drain_delay, absl::Seconds(5),
          "After SIGTERM the server says NOT_SERVING and keeps serving for this long, so that load "
          "balancers turn away first. SIGINT skips it, a second signal ends it.");
ABSL_FLAG(absl::Duration, drain_timeout, absl::Seconds(30),
          "Then new requests are refused and accepted ones are finished within this time; past it "
          "the server ends with exit code 3.");
ABSL_FLAG(std::string, log_format, "text", "One event a line on standard error.");
ABSL_FLAG(std::string, log_level, "info", "The least level that is written.");
ABSL_FLAG(
    bool, tune_malloc, true,
    "Tell malloc to keep freed memory instead of giving it back to the system: large messages "
    "are several times faster, resident memory stays at its peak.");
ABSL_FLAG(std::string, addr, "127.0.0.1:50051", "The server: host:port or unix:/path.");
ABSL_FLAG(std::string, service, "",
          "Service to ask about; empty: the server as a whole. One of normd.v1.NormService, "
          "normd.v1.BufferService, normd.v1.AdminService.");
ABSL_FLAG(absl::Duration, timeout, absl::Seconds(5), "Time for an answer.");

namespace normd {
namespace {

constexpr int64_t kHour = 3600;

absl::Status Wrong(const FlagSpec& spec, absl::string_view value) {
  const bool choice = !spec.choices.empty();
  return absl::InvalidArgumentError(absl::StrCat("--", std::string(spec.name), ": ", value,
                                                 choice ? " is not " : " is out of range (",
                                                 DescribeRange(spec), choice ? "" : ")"));
}

bool IsDuration(const FlagSpec& spec) {
  return absl::FindCommandLineFlag({spec.name.data(), spec.name.size()})
      ->IsOfType<absl::Duration>();
}

}  // namespace

absl::Span<const FlagSpec> ServeFlags() {
  static const auto* const flags = new std::vector<FlagSpec>{
      {.name = "listen"},
      {.name = "insecure"},
      {.name = "metrics_listen"},
      {.name = "metrics_max_shapes", .unit = "shapes", .min = 1, .max = 4096},
      {.name = "port_file"},
      {.name = "reflection", .choices = {"auto", "on", "off"}},
      {.name = "devices"},
      {.name = "cpu_threads", .unit = "threads", .min = 0, .max = 256},
      {.name = "streams", .unit = "launches", .min = 1, .max = 16},
      {.name = "completion_threads", .unit = "threads", .min = 1, .max = 64},
      {.name = "staging_bytes", .unit = "bytes", .min = 1 << 16, .max = int64_t{1} << 40},
      {.name = "max_queue_requests", .unit = "requests", .min = 1, .max = 1'000'000},
      {.name = "max_message_bytes", .unit = "bytes", .min = 1 << 16, .max = INT32_MAX},
      {.name = "max_metadata_bytes", .unit = "bytes", .min = 1024, .max = 1 << 20},
      {.name = "max_concurrent_streams", .unit = "calls", .min = 1, .max = 1'000'000},
      {.name = "transport_memory_bytes", .unit = "bytes", .min = 1 << 20, .max = int64_t{1} << 40},
      {.name = "keepalive_time", .min = 1, .max = 2 * kHour},
      {.name = "min_ping_interval", .min = 0, .max = kHour},
      {.name = "drain_delay", .min = 0, .max = kHour},
      {.name = "drain_timeout", .min = 0, .max = kHour},
      {.name = "log_format", .choices = {"text", "json"}},
      {.name = "log_level", .choices = {"debug", "info", "warning", "error"}},
      {.name = "tune_malloc"},
  };
  return *flags;
}

absl::Span<const FlagSpec> HealthFlags() {
  static const auto* const flags = new std::vector<FlagSpec>{
      {.name = "addr"}, {.name = "service"}, {.name = "timeout", .min = 0, .max = kHour}};
  return *flags;
}

absl::Span<const FlagSpec> InfoFlags() {
  static const auto* const flags =
      new std::vector<FlagSpec>{{.name = "addr"}, {.name = "timeout", .min = 0, .max = kHour}};
  return *flags;
}

absl::Status CheckFlag(const FlagSpec& spec) {
  const absl::CommandLineFlag* const flag =
      absl::FindCommandLineFlag({spec.name.data(), spec.name.size()});
  if (const auto number = flag->TryGet<int64_t>()) {
    const bool inside = spec.min <= *number && *number <= spec.max;
    return inside ? absl::OkStatus() : Wrong(spec, flag->CurrentValue());
  }
  if (const auto duration = flag->TryGet<absl::Duration>()) {
    const bool inside =
        absl::Seconds(spec.min) <= *duration && *duration <= absl::Seconds(spec.max);
    return inside ? absl::OkStatus() : Wrong(spec, flag->CurrentValue());
  }
  if (spec.choices.empty()) return absl::OkStatus();
  for (const std::string_view choice : spec.choices) {
    if (flag->CurrentValue() == choice) return absl::OkStatus();
  }
  return Wrong(spec, absl::StrCat("'", flag->CurrentValue(), "'"));
}

std::string DescribeRange(const FlagSpec& spec) {
  std::string text(spec.unit);
  if (!spec.choices.empty()) {
    for (size_t i = 0; i < spec.choices.size(); ++i) {
      if (i > 0) text += i + 1 == spec.choices.size() ? " or " : ", ";
      text += spec.choices[i];
    }
  } else if (spec.max != 0) {
    if (!text.empty()) text += ", ";
    if (IsDuration(spec)) {
      absl::StrAppend(&text, spec.min, "s to ", absl::FormatDuration(absl::Seconds(spec.max)));
    } else {
      absl::StrAppend(&text, spec.min, " to ", spec.max);
    }
  }
  return text;
}

std::string FlagHelp(absl::Span<const FlagSpec> flags) {
  std::string help;
  for (const FlagSpec& spec : flags) {
    const absl::CommandLineFlag* const flag =
        absl::FindCommandLineFlag({spec.name.data(), spec.name.size()});
    const std::string range = DescribeRange(spec);
    const std::string value = flag->DefaultValue();
    absl::StrAppend(&help, "  --", std::string(spec.name), "\n      ", flag->Help(), "\n      ",
                    range, range.empty() ? "" : "; ", "default ", value.empty() ? "empty" : value,
                    "; environment ", EnvironmentName(spec.name), "\n");
  }
  return help;
}

std::string EnvironmentName(std::string_view flag) {
  return absl::StrCat("NORMD_", absl::AsciiStrToUpper({flag.data(), flag.size()}));
}

}  // namespace normd
