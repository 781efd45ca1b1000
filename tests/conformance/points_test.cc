// Every conformance point, one test each.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/conformance/axes.h"
#include "tests/conformance/checker.h"
#include "tests/conformance/suite.h"
#include "tests/conformance/workload.h"

namespace normd {
namespace {

const std::vector<Point>& Points() {
  static const std::vector<Point> points =
      CoveringPoints(Options().points, kPointSeed, Options().max_elements);
  return points;
}

class ConformancePoint : public testing::TestWithParam<int> {};

std::string NameOf(const testing::TestParamInfo<int>& info) {
  return std::to_string(info.param) + "_" + Label(Points()[static_cast<size_t>(info.param)]);
}

TEST_P(ConformancePoint, MatchesTheOracle) {
  const Point& point = Points()[static_cast<size_t>(GetParam())];
  const uint64_t seed = kPointSeed + static_cast<uint64_t>(GetParam());
  SCOPED_TRACE(testing::Message() << Label(point) << " seed " << seed);
  const Workload workload = MakeWorkload(point, seed);
  const auto outcome = SharedLauncher().Run(workload.spec, {workload.segment}, workload.memory);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const Operands& operands = workload.segment.operands;
  const std::vector<std::string> faults = FaultsOf(
      workload.spec, operands, RunOracle(workload.spec, operands), outcome->segments.front());
  EXPECT_TRUE(faults.empty()) << Lines(faults);
  CountPoints(1);
}

INSTANTIATE_TEST_SUITE_P(All, ConformancePoint, testing::Range(0, Options().points), NameOf);

}  // namespace
}  // namespace normd
