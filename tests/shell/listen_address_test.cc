#include "server/listen_address.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace normd {
namespace {

using ::testing::HasSubstr;

TEST(ListenAddress, ReadsTcp) {
  const auto address = ParseListenAddress("127.0.0.1:50051");
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_EQ(address->host, "127.0.0.1");
  EXPECT_EQ(address->port, 50051);
  EXPECT_FALSE(address->is_unix());
  EXPECT_EQ(ParseListenAddress("[::1]:0")->host, "::1");
}

TEST(ListenAddress, ReadsUnix) {
  const auto address = ParseListenAddress("unix:/tmp/a:b.sock");
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_TRUE(address->is_unix());
  EXPECT_EQ(address->unix_path, "/tmp/a:b.sock");
}

TEST(ListenAddress, KnowsWhatIsLocal) {
  for (const char* text : {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1", "unix:/x"}) {
    EXPECT_TRUE(ParseListenAddress(text)->is_local()) << text;
  }
  for (const char* text : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "128.0.0.1:1", "example.org:1",
                           "127.0.0.1.example.org:1", "[::ffff:127.0.0.1]:1"}) {
    EXPECT_FALSE(ParseListenAddress(text)->is_local()) << text;
  }
}

TEST(ListenAddress, SaysWhatIsWrong) {
  const struct {
    std::string text;
    const char* why;
  } cases[] = {
      {"", "neither host:port nor unix:/path"},
      {"localhost", "neither host:port nor unix:/path"},
      {":50051", "names no host"},
      {"::1:50051", "brackets"},
      {"[::1:50051", "lacks the ]"},
      {"a:b", "no port"},
      {"a:65536", "no port"},
      {"a:-1", "no port"},
      {"a:", "no port"},
      {"unix:", "absolute"},
      {"unix:relative", "absolute"},
      {"unix:/" + std::string(kMaxUnixPath, 'x'), "at most 107"},
  };
  for (const auto& [text, why] : cases) {
    const auto address = ParseListenAddress(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_THAT(std::string(address.status().message()), HasSubstr(why)) << text;
  }
}

TEST(ListenAddress, TakesTheLongestUnixPath) {
  EXPECT_TRUE(ParseListenAddress("unix:/" + std::string(kMaxUnixPath - 1, 'x')).ok());
}

}  // namespace
}  // namespace normd
