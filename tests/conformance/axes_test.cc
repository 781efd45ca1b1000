#include "tests/conformance/axes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/slots.h"
#include "tests/conformance/suite.h"
#include "tests/conformance/workload.h"
#include "tests/oracle/oracle.h"

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

// A bound that nothing can break tests nothing: no element of any point is free, and few may miss
// their value by a thousandth of the largest of their tensor. (In groups of one or two elements a
// gradient is what cancellation leaves of its terms; it has no magnitude to be compared with.)
TEST(Axes, TolerancesAreTight) {
  int64_t elements = 0;
  int64_t loose = 0;
  int64_t free = 0;
  uint64_t seed = kPointSeed;
  for (const Point& point : CoveringPoints(400, kPointSeed, 1 << 11)) {
    const Workload workload = MakeWorkload(point, seed++);
    const Results results = RunOracle(workload.spec, workload.segment.operands);
    for (size_t slot = IndexOf(Slot::kY); slot < kSlots; ++slot) {
      const Reference& reference = ReferenceOf(SlotAt(slot), results);
      double largest = 0;
      for (const double value : reference.value) {
        if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
      }
      for (const double error : reference.error) {
        ++elements;
        free += !std::isfinite(error);
        loose += workload.spec.group > 2 && error > 1e-3 * largest;
      }
    }
  }
  EXPECT_EQ(free, 0);
  EXPECT_LE(loose, elements / 1000) << "of " << elements;
}

}  // namespace
}  // namespace normd
