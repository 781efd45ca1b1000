// The log: one event a line on standard error, as text or as JSON.
//
//   2026-01-31T10:20:30.123456Z info serving address=127.0.0.1:50051 device=cpu
//   {"time":"2026-01-31T10:20:30.123456Z","level":"info","event":"serving","address":"..."}
//
// Thread-safe. An event is a fixed text; what varies goes into fields. Never log payloads, tokens
// or metadata of callers.
#ifndef NORMD_SERVER_TELEMETRY_LOG_H_
#define NORMD_SERVER_TELEMETRY_LOG_H_

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace normd {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
enum class LogFormat { kText, kJson };

struct LogOptions {
  LogFormat format = LogFormat::kText;
  LogLevel level = LogLevel::kInfo;  // the least that is written
};

struct LogField {
  LogField(std::string_view field, std::string_view text) : key(field), value(text) {}
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  LogField(std::string_view field, Number number) : key(field), value(absl::StrCat(number)) {}

  std::string_view key;
  std::string value;
};

// Until it is called the log is text from kInfo on.
void SetUpLog(const LogOptions& options);

bool LogsAt(LogLevel level);
void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});
void LogFields(LogLevel level, std::string_view event, std::span<const LogField> fields);

// Writes out what is buffered; before the process ends without unwinding.
void FlushLog();

// The line that Log writes, without its end. Pure.
std::string FormatLogLine(LogFormat format, std::string_view time, LogLevel level,
                          std::string_view event, std::span<const LogField> fields);

// An id that a caller can be given for an error whose details stay in the log: unique in this
// process and, by a random half, across restarts.
std::string NewRequestId();

}  // namespace normd

#endif  // NORMD_SERVER_TELEMETRY_LOG_H_
