#include "server/config.h"

#include <set>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/flags.h"

namespace normd {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ConfigTest : public testing::Test {
 protected:
  static std::string Error() {
    const auto config = MakeServeConfig();
    EXPECT_FALSE(config.ok());
    return std::string(config.status().message());
  }

  absl::FlagSaver saver_;
};

TEST_F(ConfigTest, DefaultsAreValidAndLocal) {
  const auto config = MakeServeConfig();
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->transport.listen.size(), 1u);
  EXPECT_TRUE(config->transport.reflection);
  EXPECT_EQ(config->transport.max_message_bytes, config->norm.max_message_bytes);
  EXPECT_EQ(config->worker.staging_bytes, int64_t{1} << 30);
  EXPECT_EQ(config->lifecycle.drain_timeout, absl::Seconds(30));
  EXPECT_EQ(config->device.choice, DeviceChoice::kAuto);
  EXPECT_TRUE(config->tune_malloc);
}

TEST_F(ConfigTest, OtherMachinesNeedInsecure) {
  absl::SetFlag(&FLAGS_listen, {"127.0.0.1:1", "0.0.0.0:50051"});
  const std::string error = Error();
  EXPECT_THAT(error, StartsWith("--listen: '0.0.0.0:50051'"));
  EXPECT_THAT(error, HasSubstr("--insecure"));
  absl::SetFlag(&FLAGS_insecure, true);
  const auto config = MakeServeConfig();
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_FALSE(config->transport.reflection);  // auto: not where others can ask
}

TEST_F(ConfigTest, ReflectionCanBeForced) {
  absl::SetFlag(&FLAGS_reflection, "off");
  EXPECT_FALSE(MakeServeConfig()->transport.reflection);
  absl::SetFlag(&FLAGS_listen, {"0.0.0.0:1"});
  absl::SetFlag(&FLAGS_insecure, true);
  absl::SetFlag(&FLAGS_reflection, "on");
  EXPECT_TRUE(MakeServeConfig()->transport.reflection);
}

TEST_F(ConfigTest, ListenMustNameDifferentAddresses) {
  absl::SetFlag(&FLAGS_listen, {"127.0.0.1:0", "127.0.0.1:0"});  // two free ports
  EXPECT_TRUE(MakeServeConfig().ok());
  absl::SetFlag(&FLAGS_listen, {"unix:/a", "unix:/a"});
  EXPECT_THAT(Error(), StartsWith("--listen: 'unix:/a' is given twice"));
  absl::SetFlag(&FLAGS_listen, {});
  EXPECT_THAT(Error(), StartsWith("--listen: names no address"));
  absl::SetFlag(&FLAGS_listen, {"nonsense"});
  EXPECT_THAT(Error(), StartsWith("--listen: 'nonsense'"));
}

TEST_F(ConfigTest, MetricsHaveAnAddressOfTheirOwn) {
  absl::SetFlag(&FLAGS_metrics_listen, "127.0.0.1:50051");
  EXPECT_THAT(Error(), StartsWith("--metrics_listen: is the same address"));
  absl::SetFlag(&FLAGS_metrics_listen, "unix:/x");
  EXPECT_THAT(Error(), StartsWith("--metrics_listen: must be host:port"));
  absl::SetFlag(&FLAGS_metrics_listen, "9464");
  EXPECT_THAT(Error(), StartsWith("--metrics_listen: '9464'"));
  absl::SetFlag(&FLAGS_metrics_listen, "");
  EXPECT_TRUE(MakeServeConfig().ok());
}

TEST_F(ConfigTest, TheLargestMessageMustFit) {
  absl::SetFlag(&FLAGS_staging_bytes, 1 << 20);
  EXPECT_THAT(Error(), StartsWith("--staging_bytes: 1048576 is less than --max_message_bytes"));
  absl::SetFlag(&FLAGS_max_message_bytes, 1 << 20);
  EXPECT_TRUE(MakeServeConfig().ok());
  absl::SetFlag(&FLAGS_max_message_bytes, 1 << 21);
  absl::SetFlag(&FLAGS_staging_bytes, 1 << 30);
  absl::SetFlag(&FLAGS_transport_memory_bytes, 1 << 20);
  EXPECT_THAT(Error(), StartsWith("--transport_memory_bytes: 1048576 is less"));
}

TEST_F(ConfigTest, DevicesAreOneOfThreeKinds) {
  absl::SetFlag(&FLAGS_devices, "cpu");
  EXPECT_EQ(MakeServeConfig()->device.choice, DeviceChoice::kCpu);
  absl::SetFlag(&FLAGS_devices, "0,1");
  EXPECT_THAT(Error(), StartsWith("--devices: '0,1': several devices are not supported yet"));
  for (const char* text : {"", "gpu", "-1", "1x", "cuda:0"}) {
    absl::SetFlag(&FLAGS_devices, text);
    EXPECT_THAT(Error(), StartsWith("--devices: '" + std::string(text) + "' is not")) << text;
  }
}

TEST_F(ConfigTest, LogLevelsAndFormats) {
  absl::SetFlag(&FLAGS_log_format, "json");
  const std::pair<const char*, LogLevel> levels[] = {{"debug", LogLevel::kDebug},
                                                     {"info", LogLevel::kInfo},
                                                     {"warning", LogLevel::kWarning},
                                                     {"error", LogLevel::kError}};
  for (const auto& [text, level] : levels) {
    absl::SetFlag(&FLAGS_log_level, text);
    EXPECT_EQ(MakeServeConfig()->log.level, level);
    EXPECT_EQ(MakeServeConfig()->log.format, LogFormat::kJson);
  }
}

TEST_F(ConfigTest, TheEffectiveConfigHasEveryFlag) {
  absl::SetFlag(&FLAGS_cpu_threads, 7);
  std::set<std::string> names;
  for (const auto& [name, value] : EffectiveConfig()) {
    names.insert(name);
    if (name == "cpu_threads") {
      EXPECT_EQ(value, "7");
    }
  }
  EXPECT_EQ(names.size(), ServeFlags().size());
}

}  // namespace
}  // namespace normd
