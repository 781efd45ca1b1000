#include "server/flag_sources.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace normd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FlagSourcesTest : public testing::Test {
 protected:
  FlagSourcesTest() {
    char name[] = "/tmp/normd-flags-XXXXXX";
    close(mkstemp(name));
    file_ = name;
  }
  ~FlagSourcesTest() override { unlink(file_.c_str()); }

  void WriteFile(const std::string& text) { std::ofstream(file_) << text; }
  std::string FileArgument() const { return "--flagfile=" + file_; }

  absl::Status Set(const std::vector<std::string>& arguments) {
    const std::vector<std::string_view> views(arguments.begin(), arguments.end());
    return SetFlags(ServeFlags(), views, [this](const std::string& name) {
      const auto at = environment_.find(name);
      return at == environment_.end() ? std::nullopt : std::optional(at->second);
    });
  }

  std::string Error(const std::vector<std::string>& arguments) {
    const absl::Status status = Set(arguments);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message().find('\n'), absl::string_view::npos);
    return std::string(status.message());
  }

  absl::FlagSaver saver_;
  std::string file_;
  std::map<std::string, std::string> environment_;
};

TEST_F(FlagSourcesTest, NothingGivenLeavesTheDefaults) {
  ASSERT_TRUE(Set({}).ok());
  EXPECT_THAT(absl::GetFlag(FLAGS_listen), ElementsAre("127.0.0.1:50051"));
  EXPECT_EQ(absl::GetFlag(FLAGS_drain_delay), absl::Seconds(5));
}

TEST_F(FlagSourcesTest, TheFileGoesBeforeTheDefault) {
  WriteFile("# comment\n\n  --cpu_threads=3  \n--insecure\n");
  ASSERT_TRUE(Set({FileArgument()}).ok());
  EXPECT_EQ(absl::GetFlag(FLAGS_cpu_threads), 3);
  EXPECT_TRUE(absl::GetFlag(FLAGS_insecure));
}

TEST_F(FlagSourcesTest, TheEnvironmentGoesBeforeTheFile) {
  WriteFile("--cpu_threads=3\n--streams=2\n");
  environment_ = {{"NORMD_CPU_THREADS", "4"}, {"NORMD_FLAGFILE", file_}};
  ASSERT_TRUE(Set({}).ok());
  EXPECT_EQ(absl::GetFlag(FLAGS_cpu_threads), 4);
  EXPECT_EQ(absl::GetFlag(FLAGS_streams), 2);
}

TEST_F(FlagSourcesTest, TheCommandLineGoesBeforeTheEnvironment) {
  WriteFile("--cpu_threads=3\n");
  environment_ = {{"NORMD_CPU_THREADS", "4"}};
  ASSERT_TRUE(Set({FileArgument(), "--cpu_threads=5"}).ok());
  EXPECT_EQ(absl::GetFlag(FLAGS_cpu_threads), 5);
}

TEST_F(FlagSourcesTest, ASourceThatLosesIsNotMixedIn) {
  environment_ = {{"NORMD_LISTEN", "127.0.0.1:1"}};
  ASSERT_TRUE(Set({"--listen=127.0.0.1:2"}).ok());
  EXPECT_THAT(absl::GetFlag(FLAGS_listen), ElementsAre("127.0.0.1:2"));
}

TEST_F(FlagSourcesTest, ListsGrowWhenRepeatedOthersAreReplaced) {
  ASSERT_TRUE(Set({"--listen=a:1,b:2", "--listen", "unix:/c", "--streams=2", "--streams=3"}).ok());
  EXPECT_THAT(absl::GetFlag(FLAGS_listen), ElementsAre("a:1", "b:2", "unix:/c"));
  EXPECT_EQ(absl::GetFlag(FLAGS_streams), 3);
}

TEST_F(FlagSourcesTest, SwitchesTakeFourForms) {
  ASSERT_TRUE(Set({"--insecure", "--notune_malloc"}).ok());
  EXPECT_TRUE(absl::GetFlag(FLAGS_insecure));
  EXPECT_FALSE(absl::GetFlag(FLAGS_tune_malloc));
  ASSERT_TRUE(Set({"--insecure=false", "--tune_malloc=true"}).ok());
  EXPECT_FALSE(absl::GetFlag(FLAGS_insecure));
  EXPECT_TRUE(absl::GetFlag(FLAGS_tune_malloc));
}

TEST_F(FlagSourcesTest, UnknownFlagsAreNamed) {
  EXPECT_EQ(Error({"--max_mesage_bytes=1"}), "--max_mesage_bytes: there is no such flag");
  EXPECT_EQ(Error({"--nolisten"}), "--nolisten: there is no such flag");
  EXPECT_EQ(Error({"serve"}), "'serve' is not a flag; flags start with --");
  EXPECT_EQ(Error({"--service=x"}), "--service: there is no such flag");  // of another subcommand
}

TEST_F(FlagSourcesTest, MissingAndUnreadableValuesAreNamed) {
  EXPECT_EQ(Error({"--cpu_threads"}), "--cpu_threads: needs a value");
  EXPECT_EQ(Error({"--cpu_threads=many"}), "--cpu_threads: 'many' cannot be read as a value");
  EXPECT_EQ(Error({"--drain_delay=5"}), "--drain_delay: '5' cannot be read as a value");
  EXPECT_EQ(Error({"--insecure=perhaps"}), "--insecure: 'perhaps' cannot be read as a value");
}

TEST_F(FlagSourcesTest, RangesAreHeldAndSourcesNamed) {
  EXPECT_EQ(Error({"--cpu_threads=257"}), "--cpu_threads: 257 is out of range (threads, 0 to 256)");
  absl::SetFlag(&FLAGS_cpu_threads, 0);
  environment_ = {{"NORMD_LOG_FORMAT", "xml"}};
  EXPECT_EQ(Error({}), "--log_format: 'xml' is not text or json (from NORMD_LOG_FORMAT)");
  environment_.clear();
  absl::SetFlag(&FLAGS_log_format, "text");
  WriteFile("\n--drain_timeout=2h\n");
  EXPECT_EQ(Error({FileArgument()}),
            "--drain_timeout: 2h is out of range (0s to 1h) (from " + file_ + ":2)");
}

TEST_F(FlagSourcesTest, FlagFilesAreHeldToTheSameRules) {
  EXPECT_THAT(Error({"--flagfile=/nowhere/x"}), HasSubstr("--flagfile: cannot read '/nowhere/x'"));
  WriteFile("--nothing=1\n");
  EXPECT_EQ(Error({FileArgument()}), "--nothing: there is no such flag (from " + file_ + ":1)");
  WriteFile("--flagfile=other\n");
  EXPECT_EQ(Error({FileArgument()}),
            "--flagfile: a flag file cannot name another (from " + file_ + ":1)");
}

TEST_F(FlagSourcesTest, OtherVariablesAreLeftAlone) {
  environment_ = {{"NORMD_SERVICE_HOST", "10.0.0.1"}, {"NORMD_PORT", "tcp://10.0.0.1:50051"}};
  EXPECT_TRUE(Set({}).ok());
}

}  // namespace
}  // namespace normd
