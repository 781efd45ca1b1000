#include "kernels/cuda/backward_scratch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/cuda/specs.h"

namespace normd::cuda {
namespace {

std::vector<Segment> SegmentsOf(int count, int64_t rows) {
  std::vector<Segment> segments(static_cast<size_t>(count));
  for (Segment& segment : segments) segment.rows = rows;
  return segments;
}

TEST(BackwardScratchTest, PartialRowsOfBothGradients) {
  const NormSpec spec = BackwardSpec(128);
  const Plan plan = MakePlan(spec);
  const int64_t strips = StripsOf(plan, 100000);
  EXPECT_EQ(ScratchOf(spec, plan, 100000).partials, 2 * strips * 128 * 4);
  EXPECT_EQ(ScratchOf(spec, plan, 100000).sums, 0);
}

TEST(BackwardScratchTest, NothingForGradientsThatAreNotWanted) {
  NormSpec spec = BackwardSpec(128);
  spec.want_dweight = spec.want_dbias = false;
  EXPECT_EQ(ScratchOf(spec, MakePlan(spec), 100000).total(), 0);
}

TEST(BackwardScratchTest, RowSumsOfTheStreamingFamily) {
  NormSpec spec = BackwardSpec(65536);
  ASSERT_EQ(MakePlan(spec).family, Family::kStreaming);
  EXPECT_GE(ScratchOf(spec, MakeApplyPlan(spec), 10).sums, 10 * kRowSumsBytes);
}

TEST(BackwardScratchTest, PartsStartAtMultiplesOf256) {
  const NormSpec spec = BackwardSpec(17);
  const SegmentScratch scratch = ScratchOf(spec, MakePlan(spec), 3);
  EXPECT_EQ(scratch.partials % 256, 0);
  EXPECT_EQ(scratch.sums % 256, 0);
}

TEST(BackwardScratchTest, ABatchEndsAtTheTable) {
  const NormSpec spec = BackwardSpec(128);
  const auto segments = SegmentsOf(kLargeTable + 40, 256);
  EXPECT_EQ(NextBatch(spec, MakePlan(spec), segments).count, kLargeTable);
}

TEST(BackwardScratchTest, ABatchEndsAtTheLimitButTakesOneSegment) {
  const NormSpec spec = BackwardSpec(kMaxWidth);
  const Plan plan = MakeApplyPlan(spec);
  ASSERT_GT(2 * ScratchOf(spec, plan, 1000).total(), kMaxBatchScratch);
  const Batch batch = NextBatch(spec, plan, SegmentsOf(3, 1000));
  EXPECT_EQ(batch.count, 1);
  EXPECT_EQ(batch.scratch_bytes, ScratchOf(spec, plan, 1000).total());
}

TEST(BackwardScratchTest, EmptySegmentsTakeNoScratch) {
  const NormSpec spec = BackwardSpec(128);
  const Batch batch = NextBatch(spec, MakePlan(spec), SegmentsOf(5, 0));
  EXPECT_EQ(batch.count, 5);
  EXPECT_EQ(batch.scratch_bytes, 0);
}

}  // namespace
}  // namespace normd::cuda
