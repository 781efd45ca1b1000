// Which operands may share memory: y exactly on x, dx exactly on dy, and nothing else that is
// written.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/field_error.h"
#include "kernels/segment.h"

namespace normd {
namespace {

constexpr int64_t kRows = 4;
constexpr int64_t kWidth = 8;
constexpr int64_t kBytes = kRows * kWidth * 4;

template <typename T = void>
T* At(int64_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

NormSpec ForwardSpec() {
  NormSpec spec;
  spec.width = spec.group = kWidth;
  spec.has_weight = spec.want_y = spec.want_rstd = true;
  return spec;
}

Segment ForwardSegment() {
  Segment s;
  s.rows = kRows;
  s.x = {At(0x1000), kWidth};
  s.weight = At(0x2000);
  s.y = {At(0x3000), kWidth};
  s.rstd_out = At<float>(0x4000);
  return s;
}

NormSpec BackwardSpec() {
  NormSpec spec;
  spec.direction = Direction::kBackward;
  spec.width = spec.group = kWidth;
  spec.has_weight = spec.want_dweight = spec.want_dx = true;
  return spec;
}

Segment BackwardSegment() {
  Segment s;
  s.rows = kRows;
  s.x = {At(0x1000), kWidth};
  s.weight = At(0x2000);
  s.dy = {At(0x3000), kWidth};
  s.dx = {At(0x4000), kWidth};
  s.dweight = At(0x5000);
  return s;
}

// The two operands of the error, or "" for none.
std::string Overlap(const NormSpec& spec, const Segment& segment) {
  const absl::Status status = Validate(spec, segment);
  return status.ok() ? "" : std::string(status.message());
}

TEST(SegmentOverlapTest, YExactlyOnXIsAllowed) {
  Segment s = ForwardSegment();
  s.y.data = At(0x1000);
  EXPECT_EQ(Overlap(ForwardSpec(), s), "");
  s.x.row_stride = s.y.row_stride = kWidth + 3;
  EXPECT_EQ(Overlap(ForwardSpec(), s), "");
}

TEST(SegmentOverlapTest, YOnXWithAnotherStrideIsRefused) {
  Segment s = ForwardSegment();
  s.y = {At(0x1000), kWidth + 1};
  EXPECT_EQ(Overlap(ForwardSpec(), s), "y: overlaps x");
  s.rows = 1;  // the stride of one row means nothing
  EXPECT_EQ(Overlap(ForwardSpec(), s), "");
}

TEST(SegmentOverlapTest, YPartlyOnXIsRefusedAndBesideItIsNot) {
  Segment s = ForwardSegment();
  for (const int64_t distance : {-kBytes + 4, int64_t{-4}, int64_t{4}, kBytes - 4}) {
    s.y.data = At(0x1000 + distance);
    EXPECT_EQ(Overlap(ForwardSpec(), s), "y: overlaps x") << distance;
  }
  for (const int64_t distance : {-kBytes, kBytes}) {
    s.y.data = At(0x1000 + distance);
    EXPECT_EQ(Overlap(ForwardSpec(), s), "") << distance;
  }
}

TEST(SegmentOverlapTest, OutputsOnParametersAreRefused) {
  Segment s = ForwardSegment();
  s.weight = At(0x3000 + kBytes - 4);
  EXPECT_EQ(Overlap(ForwardSpec(), s), "y: overlaps weight");
  s = ForwardSegment();
  s.rstd_out = At<float>(0x2000);
  EXPECT_EQ(Overlap(ForwardSpec(), s), "rstd: overlaps weight");
}

TEST(SegmentOverlapTest, OutputsOnOutputsAreRefused) {
  Segment s = ForwardSegment();
  s.rstd_out = At<float>(0x3000);
  EXPECT_EQ(Overlap(ForwardSpec(), s), "y: overlaps rstd");
  s = BackwardSegment();
  s.dweight = At(0x4000 + kBytes - 4);
  EXPECT_EQ(Overlap(BackwardSpec(), s), "dx: overlaps dweight");
}

TEST(SegmentOverlapTest, DxExactlyOnDyIsAllowedWhereTheDtypesAgree) {
  NormSpec spec = BackwardSpec();
  Segment s = BackwardSegment();
  s.dx.data = At(0x3000);
  EXPECT_EQ(Overlap(spec, s), "");
  spec.dtype = DataType::kFloat16;
  EXPECT_EQ(Overlap(spec, s), "dx: overlaps dy");
  spec.dy_dtype = DataType::kBFloat16;  // the same size, another dtype
  EXPECT_EQ(Overlap(spec, s), "dx: overlaps dy");
}

TEST(SegmentOverlapTest, DxOnXIsRefused) {
  Segment s = BackwardSegment();
  s.dx.data = At(0x1000);
  EXPECT_EQ(Overlap(BackwardSpec(), s), "dx: overlaps x");
}

TEST(SegmentOverlapTest, EveryOtherPairThatLooksInPlaceIsRefused) {
  NormSpec spec = ForwardSpec();
  spec.has_residual = spec.want_residual_out = true;
  spec.gate = GateActivation::kSilu;
  spec.gate_order = GateOrder::kNormThenGate;
  Segment s = ForwardSegment();
  s.residual = {At(0x5000), kWidth};
  s.residual_out = {At(0x6000), kWidth};
  s.z = {At(0x7000), kWidth};
  ASSERT_EQ(Overlap(spec, s), "");
  Segment wrong = s;
  wrong.residual_out.data = At(0x5000);
  EXPECT_EQ(Overlap(spec, wrong), "residual_out: overlaps residual");
  wrong = s;
  wrong.residual_out.data = At(0x1000);
  EXPECT_EQ(Overlap(spec, wrong), "residual_out: overlaps x");
  wrong = s;
  wrong.y.data = At(0x7000);
  EXPECT_EQ(Overlap(spec, wrong), "y: overlaps z");
  wrong = s;
  wrong.y.data = wrong.residual_out.data = At(0x1000);
  EXPECT_NE(Overlap(spec, wrong), "");
}

TEST(SegmentOverlapTest, InputsMayShareMemory) {
  Segment s = BackwardSegment();
  s.dy.data = At(0x1000);
  EXPECT_EQ(Overlap(BackwardSpec(), s), "");
}

TEST(SegmentOverlapTest, ColumnsOfOneMatrixMayLieBesideEachOther) {
  Segment s = ForwardSegment();
  s.x = {At(0x1000), 2 * kWidth};
  s.y = {At(0x1000 + kWidth * 4), 2 * kWidth};
  EXPECT_EQ(Overlap(ForwardSpec(), s), "");
  s.y.data = At(0x1000 - kWidth * 4);  // y on the left
  EXPECT_EQ(Overlap(ForwardSpec(), s), "");
  s.y.data = At(0x1000 + (2 * kWidth * 4) + kWidth * 4);  // one row below
  EXPECT_EQ(Overlap(ForwardSpec(), s), "");
  s.y.data = At(0x1000 + kWidth * 4 - 4);  // one column too far left
  EXPECT_EQ(Overlap(ForwardSpec(), s), "y: overlaps x");
  s.y.data = At(0x1000 + kWidth * 4 + 4);  // one too far right: meets the next row
  EXPECT_EQ(Overlap(ForwardSpec(), s), "y: overlaps x");
  s.y = {At(0x1000 + kWidth * 4), 2 * kWidth + 1};  // another pitch
  EXPECT_EQ(Overlap(ForwardSpec(), s), "y: overlaps x");
}

TEST(SegmentOverlapTest, PitchIsCountedInBytes) {
  NormSpec spec = BackwardSpec();
  spec.dy_dtype = DataType::kFloat16;
  Segment s = BackwardSegment();
  s.dx = {At(0x3000), 2 * kWidth};               // 32 of 64 bytes
  s.dy = {At(0x3000 + kWidth * 4), 4 * kWidth};  // the next 16
  EXPECT_EQ(Overlap(spec, s), "");
  s.dy.row_stride = 2 * kWidth;
  EXPECT_EQ(Overlap(spec, s), "dx: overlaps dy");
}

TEST(SegmentOverlapTest, AVectorMayLieBetweenColumns) {
  Segment s = ForwardSegment();
  s.y = {At(0x3000), 2 * kWidth};
  s.weight = At(0x3000 + kWidth * 4);
  EXPECT_EQ(Overlap(ForwardSpec(), s), "");
  s.weight = At(0x3000 + kWidth * 4 + 4);
  EXPECT_EQ(Overlap(ForwardSpec(), s), "y: overlaps weight");
}

TEST(SegmentOverlapTest, ZeroRowsOverlapNothing) {
  Segment s = ForwardSegment();
  s.rows = 0;
  s.y.data = At(0x1004);
  EXPECT_EQ(Overlap(ForwardSpec(), s), "");
}

}  // namespace
}  // namespace normd
