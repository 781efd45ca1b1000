// Many segments in one launch, and the same launch many times: the bits stay.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/conformance/batch_check.h"
#include "tests/conformance/checker.h"
#include "tests/conformance/suite.h"
#include "tests/conformance/workload.h"

namespace normd {
namespace {

class ConformanceBatch : public testing::TestWithParam<int> {};

TEST_P(ConformanceBatch, SegmentsHaveTheBitsThatTheyHaveAlone) {
  const auto seed = static_cast<uint64_t>(GetParam());
  const int segments = Options().reduced ? 8 : 50;
  const std::vector<std::string> faults = BatchFaults(SharedLauncher(), seed, segments);
  EXPECT_TRUE(faults.empty()) << "seed " << seed << "\n" << Lines(faults);
  CountPoints(1);
}

INSTANTIATE_TEST_SUITE_P(All, ConformanceBatch, testing::Range(1, Options().reduced ? 7 : 41));

// A spec whose outputs are all wanted, forward or backward.
Batch FullBatch(Direction direction, GateOrder order, int segments) {
  Batch batch;
  Set(batch.point, Axis::kDirection, static_cast<int>(direction));
  Set(batch.point, Axis::kGate, static_cast<int>(order));
  Set(batch.point, Axis::kDtype, static_cast<int>(DataType::kBFloat16));
  Set(batch.point, Axis::kDyDtype, static_cast<int>(DataType::kBFloat16));
  Set(batch.point, Axis::kWeight, 1);
  Set(batch.point, Axis::kBias, 1);
  Set(batch.point, Axis::kWidth, 9);  // 31
  batch.spec = SpecOf(batch.point, 0);
  for (int i = 0; i < segments; ++i) {
    batch.segments.push_back(MakeSegment(batch.point, batch.spec, i % 41,
                                         static_cast<float>(1 + i % 5) * 1e-5F,
                                         static_cast<uint64_t>(i)));
  }
  return batch;
}

class ConformanceLaunch : public testing::TestWithParam<std::tuple<Direction, GateOrder>> {
 protected:
  Batch MakeBatch(int segments) const {
    return FullBatch(std::get<0>(GetParam()), std::get<1>(GetParam()), segments);
  }
};

TEST_P(ConformanceLaunch, NanRowsOfOneSegmentLeaveItsMatesAlone) {
  Batch batch = MakeBatch(9);
  const auto clean = RunTogether(SharedLauncher(), batch.spec, batch.segments);
  ASSERT_TRUE(clean.ok()) << clean.status();
  for (double& x : batch.segments[4].operands.x) x = std::nan("");
  const auto mixed = RunTogether(SharedLauncher(), batch.spec, batch.segments);
  ASSERT_TRUE(mixed.ok()) << mixed.status();
  for (size_t i = 0; i < batch.segments.size(); ++i) {
    const std::vector<std::string> differences = BitDifferences((*clean)[i], (*mixed)[i]);
    EXPECT_EQ(differences.empty(), i != 4) << "segment " << i << "\n" << Lines(differences);
  }
}

TEST_P(ConformanceLaunch, ThousandSegmentsInLaunchesOfTheLargestSize) {
  const Batch batch = MakeBatch(Options().reduced ? 100 : 1000);
  const std::vector<std::string> faults = BatchFaults(SharedLauncher(), batch, true);
  EXPECT_TRUE(faults.empty()) << Lines(faults);
  CountPoints(static_cast<int64_t>(batch.segments.size()));
}

TEST_P(ConformanceLaunch, RepeatsGiveTheSameBits) {
  Batch batch = MakeBatch(5);
  batch.segments.push_back(MakeSegment(batch.point, batch.spec, 2500, 1e-5F, 77));
  Launcher& launcher = SharedLauncher();
  auto launch = launcher.Place(batch.spec, batch.segments, MemoryKind::kDevice);
  ASSERT_TRUE(launch.ok()) << launch.status();
  std::vector<SegmentOutcome> first;
  for (int i = 0; i < Options().repeats; ++i) {
    ASSERT_TRUE(launcher.Run(*launch).ok());
    auto outcomes = launcher.ReadBack(*launch);
    ASSERT_TRUE(outcomes.ok()) << outcomes.status();
    if (i == 0) first = *outcomes;
    for (size_t s = 0; s < first.size(); ++s) {
      const std::vector<std::string> differences = BitDifferences(first[s], (*outcomes)[s]);
      ASSERT_TRUE(differences.empty()) << "run " << i << " segment " << s << Lines(differences);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ConformanceLaunch,
    testing::Combine(testing::Values(Direction::kForward, Direction::kBackward),
                     testing::Values(GateOrder::kNone, GateOrder::kNormThenGate,
                                     GateOrder::kGateThenNorm)));

TEST(ConformanceEmptyLaunch, NoSegmentsAndNoRowsAreFine) {
  Batch batch = FullBatch(Direction::kBackward, GateOrder::kNone, 1);  // a segment of 0 rows
  const auto empty = SharedLauncher().Run(batch.spec, {}, MemoryKind::kDevice);
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_EQ(empty->info.launches, 0);
  const auto outcome = SharedLauncher().Run(batch.spec, batch.segments, MemoryKind::kDevice);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const SlotBytes& dweight = outcome->segments[0].outputs[IndexOf(Slot::kDweight)];
  ASSERT_EQ(dweight.size(), batch.spec.width);
  for (int64_t i = 0; i < dweight.size(); ++i) EXPECT_EQ(dweight.at(i), 0);
  batch = FullBatch(Direction::kForward, GateOrder::kNone, 1);
  const auto forward = SharedLauncher().Run(batch.spec, batch.segments, MemoryKind::kDevice);
  ASSERT_TRUE(forward.ok()) << forward.status();
  EXPECT_EQ(forward->info.launches, 0);
}

}  // namespace
}  // namespace normd
