#include <gtest/gtest.h>

#include <string>

#include "kernels/cpu/tiling.h"

namespace normd {
namespace {

NormSpec Spec(int64_t width, int64_t group) {
  NormSpec spec;
  spec.width = width;
  spec.group = group;
  return spec;
}

TEST(CpuTilingTest, TilesHoldWholeGroupsAndFitScratch) {
  for (const int64_t width : {1, 2, 7, 16, 255, 2048, 2049, 8191, 8192}) {
    for (const int64_t group : {int64_t{1}, width}) {
      const NormSpec spec = Spec(width, group);
      ASSERT_FALSE(IsWide(spec));
      EXPECT_EQ(TileColumns(spec) % group, 0);
      EXPECT_LE(TileRows(spec) * TileColumns(spec), kMaxTileColumns);
      EXPECT_GE(TileRows(spec), 1);
    }
  }
}

TEST(CpuTilingTest, AWideRowOfNarrowGroupsIsCutBetweenGroups) {
  const NormSpec spec = Spec(3 * 5000, 5000);
  EXPECT_FALSE(IsWide(spec));
  EXPECT_EQ(TileColumns(spec), 5000);
  EXPECT_EQ(TileColumns(Spec(64 * 1000, 64)), kMaxTileColumns);
}

TEST(CpuTilingTest, NarrowRowsShareATile) {
  EXPECT_EQ(TileRows(Spec(16, 16)), kTileElements / 16);
  NormSpec single = Spec(16, 16);
  single.path = KernelPath::kSingleRow;
  EXPECT_EQ(TileRows(single), 1);
}

TEST(CpuTilingTest, StripsAreFewAndNotShort) {
  NormSpec spec = Spec(16, 16);
  spec.want_dweight = true;
  for (const int64_t rows : {int64_t{1}, int64_t{100}, int64_t{1} << 20, int64_t{1} << 40}) {
    const int64_t strip = UnitRows(spec, rows);
    EXPECT_GE(strip, kMinStripRows);
    EXPECT_LE(DivideUp(rows, strip), kMaxStrips);
  }
  spec.width = spec.group = kMaxWidth;
  EXPECT_EQ(UnitRows(spec, 100), kMinStripRows);
}

TEST(CpuTilingTest, UnitsWithoutParameterGradientsMayBeSingleRows) {
  EXPECT_EQ(UnitRows(Spec(kMaxWidth, kMaxWidth), 100), 1);
  EXPECT_EQ(UnitRows(Spec(16, 16), 100), kUnitElements / 16);
}

TEST(CpuTilingTest, NamesTheKernel) {
  EXPECT_EQ(std::string(KernelName(Spec(16, 16))), "cpu_row_tile");
  EXPECT_EQ(std::string(KernelName(Spec(4096, 4096))), "cpu_single_row");
  EXPECT_EQ(std::string(KernelName(Spec(65536, 65536))), "cpu_wide_row");
  EXPECT_EQ(std::string(KernelName(Spec(65536, 64))), "cpu_single_row");
}

}  // namespace
}  // namespace normd
