// The bits of a result do not depend on the threads that made it, nor on what shared its launch.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/tiling.h"
#include "tests/conformance/axes.h"
#include "tests/conformance/batch_check.h"
#include "tests/conformance/checker.h"
#include "tests/conformance/workload.h"

namespace normd {
namespace {

constexpr int kSpecs = 12;
// More units than one at every width below.
constexpr int64_t kManyElements = 3 * kUnitElements;

// Random narrow points, in both directions.
std::vector<Point> Points() {
  std::vector<Point> points;
  for (uint64_t seed = 1; points.size() < kSpecs; ++seed) {
    const Point point = RandomPoint(seed, 1 << 12);
    if (WidthOf(point) < 8 || WidthOf(point) > 600) continue;
    if (Get(point, Axis::kDirection) == static_cast<int>(points.size() % 2)) {
      points.push_back(point);
    }
  }
  return points;
}

std::vector<SegmentOutcome> Outcomes(int threads, const NormSpec& spec,
                                     absl::Span<const PlacedSegment> segments) {
  const auto backend = NewCpuBackend({.threads = threads});
  Launcher launcher(**backend);
  auto outcomes = RunTogether(launcher, spec, segments);
  EXPECT_TRUE(outcomes.ok()) << outcomes.status();
  return outcomes.ok() ? *std::move(outcomes) : std::vector<SegmentOutcome>();
}

class CpuDeterminismTest : public testing::TestWithParam<int> {};

TEST_P(CpuDeterminismTest, ThreadsAndBatchMatesDoNotShow) {
  const Point point = Points()[static_cast<size_t>(GetParam())];
  const uint64_t seed = static_cast<uint64_t>(GetParam());
  SCOPED_TRACE(Label(point));
  const NormSpec spec = SpecOf(point, seed);
  const int64_t many = DivideUp(kManyElements, spec.width);
  std::vector<PlacedSegment> segments;
  for (const int64_t rows : {int64_t{3}, many, int64_t{0}, many / 2}) {
    segments.push_back(MakeSegment(point, spec, rows, EpsOf(point), seed + segments.size()));
  }
  const std::vector<SegmentOutcome> together = Outcomes(1, spec, segments);
  ASSERT_EQ(together.size(), segments.size());
  for (size_t i = 0; i < segments.size(); ++i) {
    EXPECT_EQ(Lines(together[i].faults), "");
    const std::vector<SegmentOutcome> alone = Outcomes(1, spec, {&segments[i], 1});
    ASSERT_EQ(alone.size(), 1u);
    EXPECT_EQ(Lines(BitDifferences(together[i], alone[0])), "") << "segment " << i << " alone";
  }
  for (const int threads : {2, 5}) {
    const std::vector<SegmentOutcome> again = Outcomes(threads, spec, segments);
    ASSERT_EQ(again.size(), segments.size());
    for (size_t i = 0; i < segments.size(); ++i) {
      EXPECT_EQ(Lines(BitDifferences(together[i], again[i])), "")
          << "segment " << i << " with " << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Specs, CpuDeterminismTest, testing::Range(0, kSpecs));

}  // namespace
}  // namespace normd
