#include "kernels/cuda/plan.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/cuda/specs.h"

namespace normd::cuda {
namespace {

constexpr DataType kDtypes[] = {DataType::kFloat32, DataType::kFloat16, DataType::kBFloat16};
constexpr GateOrder kOrders[] = {GateOrder::kNone, GateOrder::kNormThenGate,
                                 GateOrder::kGateThenNorm};
constexpr KernelPath kPaths[] = {KernelPath::kAuto, KernelPath::kRowTiled, KernelPath::kSingleRow};

std::vector<NormSpec> SpecsOf(int64_t width) {
  std::vector<NormSpec> specs;
  for (const DataType dtype : kDtypes) {
    for (const GateOrder order : kOrders) {
      for (const KernelPath path : kPaths) {
        for (NormSpec spec : {ForwardSpec(width, dtype), BackwardSpec(width, dtype)}) {
          if (order != GateOrder::kNone) spec = Gated(spec, order);
          spec.path = path;
          specs.push_back(spec);
        }
      }
    }
  }
  return specs;
}

GateForm FormOf(const NormSpec& spec) { return KeyOf(spec, MakePlan(spec)).gate; }

// Columns of one row that the threads of a row kernel hold.
int64_t Capacity(const NormSpec& spec, const Plan& plan) {
  const int64_t threads =
      plan.family == Family::kRowTile ? int64_t{1} << plan.geometry.lanes_log2 : plan.threads;
  return threads * (16 / SizeOf(spec.dtype)) * ChunksOf(plan.shape);
}

void ExpectGeometryCoversGroups(const NormSpec& spec, const Plan& plan) {
  const Geometry& g = plan.geometry;
  EXPECT_GE(int64_t{g.groups_per_block} * g.group_blocks, spec.groups());
  EXPECT_LT(int64_t{g.groups_per_block} * (g.group_blocks - 1), spec.groups());
  EXPECT_GE(g.rows_per_block, 1);
  const bool team_is_block = plan.family == Family::kBlockRow || plan.block_team;
  const int teams = team_is_block ? 1 : plan.threads >> g.lanes_log2;
  EXPECT_LE(g.groups_per_block * g.rows_per_block, teams);
}

void ExpectThreadsWithinBounds(const NormSpec& spec, const Plan& plan) {
  const bool forward = spec.direction == Direction::kForward;
  const GateForm gate = FormOf(spec);
  EXPECT_EQ(plan.threads % kWarp, 0);
  switch (plan.family) {
    case Family::kRowTile:
      if (forward) {
        EXPECT_LE(plan.threads, ForwardShape::kMaxTileThreads);
      } else {
        EXPECT_EQ(plan.threads, BackwardShape::TileThreads(gate, ChunksOf(plan.shape)));
      }
      EXPECT_LE(plan.geometry.lanes_log2, kMaxLanesLog2);
      break;
    case Family::kBlockRow:
      EXPECT_LE(plan.threads,
                forward ? ForwardShape::kMaxBlockThreads : BackwardShape::MaxBlockThreads(gate));
      break;
    case Family::kStreaming:
      EXPECT_LE(plan.threads,
                plan.block_team ? StreamingShape::kMaxBlockThreads : StreamingShape::kTileThreads);
      break;
  }
}

void ExpectShapeIsCompiled(const NormSpec& spec, const Plan& plan) {
  if (plan.family == Family::kStreaming) return;
  EXPECT_EQ(plan.family == Family::kRowTile, IsTile(plan.shape));
  if (spec.direction == Direction::kForward) return;
  EXPECT_NE(plan.shape, RowShape::kTile4);
  EXPECT_NE(plan.shape, spec.dtype == DataType::kFloat32 ? RowShape::kBlock2 : RowShape::kBlock4);
}

void ExpectSound(const NormSpec& spec) {
  const Plan plan = MakePlan(spec);
  EXPECT_FALSE(std::string(plan.kernel).empty());
  ExpectGeometryCoversGroups(spec, plan);
  ExpectThreadsWithinBounds(spec, plan);
  ExpectShapeIsCompiled(spec, plan);
  if (plan.family != Family::kStreaming) {
    EXPECT_GE(Capacity(spec, plan), spec.group);
    EXPECT_EQ(plan.full, Capacity(spec, plan) == spec.group);
  }
  if (spec.direction == Direction::kForward || plan.family != Family::kStreaming) return;
  const Plan apply = MakeApplyPlan(spec);
  ExpectGeometryCoversGroups(spec, apply);
  EXPECT_EQ(apply.threads, StreamingShape::kApplyThreads);
  const int64_t columns = int64_t{StreamingShape::kVector} << apply.geometry.lanes_log2;
  EXPECT_GE(columns * apply.geometry.column_tiles, spec.group);
  EXPECT_LE(1 << apply.geometry.lanes_log2, apply.threads);
}

TEST(PlanTest, EveryWidthHasASoundPlan) {
  for (int64_t width = 1; width <= 70000; width += width < 5000 ? 1 : 97) {
    for (const NormSpec& spec : SpecsOf(width)) ExpectSound(spec);
    if (HasFailure()) FAIL() << "at width " << width;
  }
}

TEST(PlanTest, TheWidestRowHasASoundPlan) {
  for (const NormSpec& spec : SpecsOf(kMaxWidth)) ExpectSound(spec);
}

TEST(PlanTest, EveryGroupHasASoundPlan) {
  for (const int64_t width : {1, 2, 3, 96, 97, 1024, 6144, 5040, 65536, 1 << 24}) {
    for (int64_t group = 1; group <= width; ++group) {
      if (width % group != 0) continue;
      for (NormSpec spec : SpecsOf(width)) {
        spec.group = group;
        ExpectSound(spec);
        if (HasFailure()) FAIL() << "at width " << width << ", group " << group;
      }
    }
  }
}

TEST(PlanTest, StripsCoverTheRowsAndFitAGrid) {
  for (const int64_t width : {1, 16, 128, 1000, 4096, 65536}) {
    for (const NormSpec& spec : SpecsOf(width)) {
      const Plan plan = MakePlan(spec);
      for (const int64_t rows : {int64_t{1}, int64_t{2}, int64_t{255}, int64_t{7864320},
                                 int64_t{1} << 31, int64_t{1} << 40}) {
        const int64_t strips = StripsOf(plan, rows);
        ASSERT_GE(strips, 1);
        ASSERT_LE(strips, plan.max_strips);
        ASSERT_LE(strips, (rows + plan.rows_per_step - 1) / plan.rows_per_step);
        ASSERT_LT(strips * BlocksPerStrip(plan), int64_t{1} << 31);
      }
    }
  }
}

TEST(PlanTest, NoRowsHaveNoStrips) {
  EXPECT_EQ(StripsOf(MakePlan(ForwardSpec(128)), 0), 0);
  EXPECT_EQ(StripsOf(MakePlan(BackwardSpec(128)), 0), 0);
}

TEST(PlanTest, NoStripIsMuchLongerThanAnother) {
  const Plan plan = MakePlan(BackwardSpec(128));
  for (int64_t rows = 1; rows < 200000; rows += 37) {
    const int64_t steps = (rows + plan.rows_per_step - 1) / plan.rows_per_step;
    const int64_t strips = StripsOf(plan, rows);
    const int64_t longest = (steps + strips - 1) / strips;
    ASSERT_EQ(longest, (steps + plan.max_strips - 1) / plan.max_strips) << rows;
  }
}

TEST(PlanTest, NarrowRowsAreTiledUnlessOneRowABlockIsForced) {
  for (const int64_t width : {1, 16, 17, 128, 256}) {
    NormSpec spec = ForwardSpec(width);
    EXPECT_EQ(MakePlan(spec).family, Family::kRowTile) << width;
    spec.path = KernelPath::kSingleRow;
    EXPECT_EQ(MakePlan(spec).family, Family::kBlockRow) << width;
    EXPECT_EQ(MakePlan(spec).geometry.rows_per_block, 1) << width;
  }
}

TEST(PlanTest, ATileRowLiesOverAsFewLanesAsHoldIt) {
  EXPECT_STREQ(MakePlan(ForwardSpec(16)).kernel, "cuda_row_tile_2");
  EXPECT_STREQ(MakePlan(ForwardSpec(17)).kernel, "cuda_row_tile_4");
  EXPECT_STREQ(MakePlan(ForwardSpec(128)).kernel, "cuda_row_tile_16");
  EXPECT_STREQ(MakePlan(ForwardSpec(256)).kernel, "cuda_row_tile_32");
  EXPECT_STREQ(MakePlan(ForwardSpec(16, DataType::kFloat32)).kernel, "cuda_row_tile_4");
  EXPECT_STREQ(MakePlan(ForwardSpec(512)).kernel, "cuda_row_tile_32x2");
  EXPECT_STREQ(MakePlan(ForwardSpec(1024)).kernel, "cuda_row_tile_32x4");
  EXPECT_STREQ(MakePlan(ForwardSpec(8192)).kernel, "cuda_block_row_2");
  EXPECT_STREQ(MakePlan(ForwardSpec(65536)).kernel, "cuda_streaming");
}

TEST(PlanTest, MixedDtypesStream) {
  NormSpec spec = Gated(ForwardSpec(128), GateOrder::kNormThenGate);
  spec.z_dtype = DataType::kFloat32;
  EXPECT_EQ(MakePlan(spec).family, Family::kStreaming);
  spec = BackwardSpec(128);
  spec.dy_dtype = DataType::kFloat32;
  EXPECT_EQ(MakePlan(spec).family, Family::kStreaming);
  spec = ForwardSpec(128);
  spec.weight_dtype = DataType::kFloat32;  // parameters may have any dtype everywhere
  EXPECT_EQ(MakePlan(spec).family, Family::kRowTile);
}

TEST(PlanTest, TheZDtypeOfAnAbsentGateDoesNotMatter) {
  NormSpec spec = ForwardSpec(128);
  spec.z_dtype = DataType::kFloat32;
  EXPECT_EQ(MakePlan(spec).family, Family::kRowTile);
}

}  // namespace
}  // namespace normd::cuda
