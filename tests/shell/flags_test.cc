#include "server/flags.h"

#include <string>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/reflection.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace normd {
namespace {

using ::testing::HasSubstr;

std::string Help(const FlagSpec& spec) { return FlagHelp(absl::MakeConstSpan(&spec, 1)); }

TEST(Flags, DefaultsAreInRange) {
  for (const auto flags : {ServeFlags(), HealthFlags(), InfoFlags()}) {
    for (const FlagSpec& spec : flags) EXPECT_TRUE(CheckFlag(spec).ok()) << spec.name;
  }
}

TEST(Flags, EveryNumberAndDurationHasARange) {
  for (const FlagSpec& spec : ServeFlags()) {
    const auto* const flag = absl::FindCommandLineFlag({spec.name.data(), spec.name.size()});
    const bool needs = flag->IsOfType<int64_t>() || flag->IsOfType<absl::Duration>();
    EXPECT_EQ(spec.max != 0, needs) << spec.name;
    EXPECT_EQ(!spec.unit.empty(), flag->IsOfType<int64_t>()) << spec.name;
  }
}

TEST(Flags, HelpGivesUnitRangeDefaultAndVariable) {
  for (const FlagSpec& spec : ServeFlags()) {
    const auto* const flag = absl::FindCommandLineFlag({spec.name.data(), spec.name.size()});
    const std::string help = Help(spec);
    EXPECT_THAT(help, HasSubstr(flag->Help())) << spec.name;
    EXPECT_THAT(help, HasSubstr(DescribeRange(spec))) << spec.name;
    const std::string value = flag->DefaultValue();
    EXPECT_THAT(help, HasSubstr("default " + (value.empty() ? "empty" : value))) << spec.name;
    EXPECT_THAT(help, HasSubstr(EnvironmentName(spec.name))) << spec.name;
  }
}

TEST(Flags, DescribesRanges) {
  EXPECT_EQ(DescribeRange({.name = "streams", .unit = "launches", .min = 1, .max = 16}),
            "launches, 1 to 16");
  EXPECT_EQ(DescribeRange({.name = "drain_delay", .min = 0, .max = 3600}), "0s to 1h");
  EXPECT_EQ(DescribeRange({.name = "reflection", .choices = {"auto", "on", "off"}}),
            "auto, on or off");
  EXPECT_EQ(DescribeRange({.name = "insecure"}), "");
}

TEST(Flags, EnvironmentNames) {
  EXPECT_EQ(EnvironmentName("max_message_bytes"), "NORMD_MAX_MESSAGE_BYTES");
}

}  // namespace
}  // namespace normd
