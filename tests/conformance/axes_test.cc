#include "tests/conformance/axes.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/conformance/suite.h"
#include "tests/conformance/workload.h"

namespace normd {
namespace {

TEST(Axes, PointsHoldEveryPairOfOptions) {
  const SuiteOptions full;
  PairSet possible;
  for (uint64_t seed = 0; seed < 50000; ++seed) possible.Add(RandomPoint(seed, full.max_elements));
  PairSet covered;
  const std::vector<Point> points = CoveringPoints(full.points, kPointSeed, full.max_elements);
  for (const Point& point : points) covered.Add(point);
  EXPECT_GE(points.size(), 2000U);
  const std::vector<std::string> missing = possible.Without(covered);
  EXPECT_TRUE(missing.empty()) << missing.size() << " missing, the first: " << missing.front();
}

TEST(Axes, SpecsAreValidAndLabelsTellPointsApart) {
  std::set<std::string> labels;
  std::set<Point> distinct;
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    const Point point = RandomPoint(seed, 1 << 12);
    const NormSpec spec = SpecOf(point, seed);
    ASSERT_TRUE(Validate(spec).ok()) << Label(point) << Validate(spec);
    labels.insert(Label(point));
    distinct.insert(point);
  }
  EXPECT_EQ(labels.size(), distinct.size());
}

}  // namespace
}  // namespace normd
