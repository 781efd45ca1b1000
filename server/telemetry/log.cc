#include "server/telemetry/log.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/telemetry/json.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace normd {
namespace {

std::atomic<LogFormat> g_format{LogFormat::kText};

const char* Name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "";
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

// Never destroyed: threads may log while the process ends.
spdlog::logger& Logger() {
  static spdlog::logger* const logger = [] {
    auto* made = new spdlog::logger("normd", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");  // the whole line is ours: FormatLogLine
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return *logger;
}

// Bare when it is one plain word, else quoted, so that a line splits at its blanks.
void AppendTextValue(std::string_view value, std::string& out) {
  bool plain = !value.empty();
  for (const char c : value) plain = plain && c > ' ' && c < 0x7F && c != '"' && c != '\\';
  if (plain) {
    out += value;
  } else {
    AppendJsonString(value, out);
  }
}

std::string FormatText(std::string_view time, LogLevel level, std::string_view event,
                       std::span<const LogField> fields) {
  std::string line = absl::StrFormat("%s %s %s", time, Name(level), event);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    AppendTextValue(field.value, line);
  }
  return line;
}

void AppendJsonMember(std::string_view key, std::string_view value, std::string& out) {
  if (out.size() > 1) out += ',';
  AppendJsonString(key, out);
  out += ':';
  AppendJsonString(value, out);
}

}  // namespace

std::string FormatLogLine(LogFormat format, std::string_view time, LogLevel level,
                          std::string_view event, std::span<const LogField> fields) {
  if (format == LogFormat::kText) return FormatText(time, level, event, fields);
  std::string line = "{";
  AppendJsonMember("time", time, line);
  AppendJsonMember("level", Name(level), line);
  AppendJsonMember("event", event, line);
  for (const LogField& field : fields) AppendJsonMember(field.key, field.value, line);
  return line + "}";
}

void SetUpLog(const LogOptions& options) {
  g_format.store(options.format);
  Logger().set_level(ToSpdlog(options.level));
}

bool LogsAt(LogLevel level) { return Logger().should_log(ToSpdlog(level)); }

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  LogFields(level, event, {fields.begin(), fields.size()});
}

void LogFields(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  if (!LogsAt(level)) return;
  const std::string time =
      absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::Now(), absl::UTCTimeZone());
  const std::string line = FormatLogLine(g_format.load(), time, level, event, fields);
  Logger().log(ToSpdlog(level), "{}", line);
}

void FlushLog() { Logger().flush(); }

std::string NewRequestId() {
  static const uint32_t process = std::random_device()();
  static std::atomic<uint32_t> next{0};
  return absl::StrFormat("%08x-%08x", process, next.fetch_add(1, std::memory_order_relaxed));
}

}  // namespace normd
