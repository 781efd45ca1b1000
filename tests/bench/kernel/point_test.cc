#include "tests/bench/kernel/point.h"

#include <gtest/gtest.h>

#include "tests/bench/kernel/presets.h"
#include "tests/bench/kernel/workload.h"

namespace normd {
namespace {

TEST(CrossTest, TakesEveryCombinationOnceAndOnlyValidOnes) {
  const Point base = {.op = NormKind::kRmsNorm, .rows = 128};
  const std::vector<Point> points =
      Cross(base, {.width = {64, 128}, .group = {0, 64, 128}, .segments = {1, 3}});
  // 64 columns: the whole row (also named 64); 128 columns: the whole row (also named 128) and 64.
  // Three segments do not divide 128 rows.
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].width, 64);
  EXPECT_EQ(points[0].group, 0);
  EXPECT_EQ(points[1].width, 128);
  EXPECT_EQ(points[1].group, 0);
  EXPECT_EQ(points[2].group, 64);
}

TEST(CrossTest, LeavesOutAResidualBeforeAGatedInput) {
  EXPECT_TRUE(Cross({.residual = true}, {.gate = {Gate::kSiluBefore}}).empty());
  EXPECT_EQ(Cross({.residual = true}, {.gate = {Gate::kSilu}}).size(), 1u);
}

TEST(KeepTest, KeepsWhatMatchesEveryGivenAxis) {
  const std::vector<Point> points = {{.width = 16}, {.width = 32}, {.width = 32, .rows = 1}};
  const std::vector<Point> kept = Keep(points, {.width = {32}, .rows = {4096}});
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0], points[1]);
}

TEST(PresetTest, EveryPointIsValidAndNoneComesTwice) {
  for (const std::string& name : PresetNames()) {
    const std::vector<Point> points = *Preset(name);
    EXPECT_GE(points.size(), 3u) << name;
    for (size_t i = 0; i < points.size(); ++i) {
      EXPECT_TRUE(Validate(SpecOf(points[i])).ok()) << name << " " << i;
      for (size_t j = 0; j < i; ++j) EXPECT_NE(points[i], points[j]) << name << " " << i;
    }
  }
  EXPECT_EQ(Preset("no-such").status().code(), absl::StatusCode::kNotFound);
}

TEST(PresetTest, ThePublicTablesHaveTheirShapes) {
  const std::vector<Point> narrow =
      Keep(*Preset("narrow-layer-norm"), {.path = {KernelPath::kSingleRow}});
  ASSERT_EQ(narrow.size(), 12u);  // six widths, two directions
  for (const Point& point : narrow) EXPECT_EQ(point.rows, 7'864'320);
  const std::vector<Point> gated = Keep(*Preset("gated-rms-norm"), {.path = {KernelPath::kAuto}});
  ASSERT_EQ(gated.size(), 8u);
  for (const Point& point : gated) EXPECT_EQ(point.timing, Timing::kGraph);
}

TEST(FitRowsTest, ScalesRowsDownToTheMemoryInWholeSegments) {
  const Point point = {.width = 64, .rows = 64'000, .segments = 64};
  const Point fitted = *FitRows(point, 1 << 20);
  EXPECT_LE(SetBytes(fitted), 1 << 20);
  EXPECT_GT(SetBytes(fitted), 9 << 16);
  EXPECT_EQ(fitted.rows % 64, 0);
  EXPECT_EQ(*FitRows(point, int64_t{1} << 30), point);
  EXPECT_EQ(FitRows(point, 1000).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(OpLabelTest, IsWhatThePeersCallIt) {
  Point point = {.op = NormKind::kRmsNorm, .gate = Gate::kSilu};
  EXPECT_EQ(OpLabel(point, Timing::kGraph), "gated_rms_norm.forward.graph");
  EXPECT_EQ(OpLabel({.direction = Direction::kBackward}, Timing::kEvents), "layer_norm.backward");
}

}  // namespace
}  // namespace normd
