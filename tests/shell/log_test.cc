#include "server/telemetry/log.h"

#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace normd {
namespace {

constexpr std::string_view kTime = "2026-01-31T10:20:30.123456Z";

std::string Line(LogFormat format, std::string_view event, const std::vector<LogField>& fields) {
  return FormatLogLine(format, kTime, LogLevel::kWarning, event, fields);
}

TEST(Log, TextIsTimeLevelEventFields) {
  EXPECT_EQ(Line(LogFormat::kText, "device lost", {{"name", "cuda:0"}, {"count", 3}}),
            "2026-01-31T10:20:30.123456Z warning device lost name=cuda:0 count=3");
}

TEST(Log, TextQuotesWhatWouldNotSplit) {
  EXPECT_EQ(Line(LogFormat::kText, "x", {{"a", ""}, {"b", "two words"}, {"c", "line\nend"}}),
            "2026-01-31T10:20:30.123456Z warning x a=\"\" b=\"two words\" c=\"line\\nend\"");
}

TEST(Log, JsonHasEveryFieldAndStaysOnALine) {
  const std::string line =
      Line(LogFormat::kJson, "odd", {{"text", "a\"b\n\xFF"}, {"number", -7}, {"ratio", 0.5}});
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["time"], kTime);
  EXPECT_EQ(json["level"], "warning");
  EXPECT_EQ(json["event"], "odd");
  EXPECT_EQ(json["text"], "a\"b\n\xEF\xBF\xBD");
  EXPECT_EQ(json["number"], "-7");
  EXPECT_EQ(json["ratio"], "0.5");
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(Log, WritesOnlyFromItsLevelOn) {
  SetUpLog({.format = LogFormat::kText, .level = LogLevel::kWarning});
  EXPECT_FALSE(LogsAt(LogLevel::kInfo));
  EXPECT_TRUE(LogsAt(LogLevel::kWarning));
  testing::internal::CaptureStderr();
  Log(LogLevel::kInfo, "quiet");
  Log(LogLevel::kError, "loud", {{"n", 1}});
  FlushLog();
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_EQ(written.find("quiet"), std::string::npos);
  EXPECT_TRUE(written.ends_with("error loud n=1\n")) << written;
  SetUpLog({});
}

TEST(Log, RequestIdsDiffer) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(NewRequestId());
  EXPECT_EQ(ids.size(), 1000u);
  EXPECT_EQ(ids.begin()->size(), 17u);
}

}  // namespace
}  // namespace normd
