#include "server/telemetry/json.h"

#include <random>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace normd {
namespace {

std::string Json(std::string_view text) {
  std::string out;
  AppendJsonString(text, out);
  return out;
}

TEST(Json, EscapesWhatJsonCannotHold) {
  EXPECT_EQ(Json(""), R"("")");
  EXPECT_EQ(Json("plain"), R"("plain")");
  EXPECT_EQ(Json("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(Json("a\nb\tc\rd"), R"("a\nb\tc\u000dd")");
  EXPECT_EQ(Json(std::string_view("\0\x1f\x7f", 3)), R"("\u0000\u001f\u007f")");
}

TEST(Json, KeepsUtf8AndReplacesWhatIsNone) {
  EXPECT_EQ(Json("µ \xE2\x82\xAC \xF0\x9F\x98\x80"), "\"µ \xE2\x82\xAC \xF0\x9F\x98\x80\"");
  EXPECT_EQ(Json("a\xFFz"), R"("a\ufffdz")");
  EXPECT_EQ(Json("\xC0\x80"), R"("\ufffd\ufffd")");                      // overlong
  EXPECT_EQ(Json("\xED\xA0\x80"), R"("\ufffd\ufffd\ufffd")");            // surrogate
  EXPECT_EQ(Json("\xF4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")");  // above U+10FFFF
  EXPECT_EQ(Json("\xE2\x82"), R"("\ufffd\ufffd")");                      // cut off
}

TEST(Json, ParsesWhateverTheBytes) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 24, '\0');
    for (char& c : text) c = static_cast<char>(random());
    const std::string json = Json(text);
    EXPECT_TRUE(nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false).is_string());
    EXPECT_EQ(json.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace normd
