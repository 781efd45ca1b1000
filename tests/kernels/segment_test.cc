#include "kernels/segment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>

#include "kernels/field_error.h"

namespace normd {
namespace {

constexpr int64_t kRows = 3;
constexpr int64_t kWidth = 8;

// Validation looks at addresses only: none of these is read.
template <typename T = void>
T* At(uintptr_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// Every operand that forward can have, in blocks of their own.
NormSpec ForwardSpec() {
  NormSpec spec;
  spec.width = kWidth;
  spec.group = 4;
  spec.gate = GateActivation::kSilu;
  spec.gate_order = GateOrder::kNormThenGate;
  spec.has_weight = spec.has_bias = spec.has_residual = true;
  spec.want_y = spec.want_mean = spec.want_rstd = spec.want_residual_out = true;
  return spec;
}

Segment ForwardSegment() {
  Segment s;
  s.rows = kRows;
  s.eps = 1e-5F;
  s.x = {At(0x1000), kWidth};
  s.z = {At(0x2000), kWidth};
  s.residual = {At(0x3000), kWidth};
  s.weight = At(0x4000);
  s.bias = At(0x5000);
  s.y = {At(0x6000), kWidth};
  s.residual_out = {At(0x7000), kWidth};
  s.mean_out = At<float>(0x8000);
  s.rstd_out = At<float>(0x9000);
  return s;
}

NormSpec BackwardSpec() {
  NormSpec spec = ForwardSpec();
  spec.direction = Direction::kBackward;
  spec.want_y = spec.want_mean = spec.want_rstd = spec.want_residual_out = false;
  spec.has_statistics = spec.has_dresidual_out = true;
  spec.want_dx = spec.want_dz = spec.want_dweight = spec.want_dbias = spec.want_dresidual = true;
  return spec;
}

Segment BackwardSegment() {
  Segment s;
  s.rows = kRows;
  s.eps = 1e-5F;
  s.x = {At(0x1000), kWidth};
  s.z = {At(0x2000), kWidth};
  s.dy = {At(0x3000), kWidth};
  s.weight = At(0x4000);
  s.bias = At(0x5000);
  s.dresidual_out = {At(0x6000), kWidth};
  s.mean = At<float>(0x7000);
  s.rstd = At<float>(0x8000);
  s.dx = {At(0x9000), kWidth};
  s.dz = {At(0xA000), kWidth};
  s.dresidual = {At(0xB000), kWidth};
  s.dweight = At(0xC000);
  s.dbias = At(0xD000);
  return s;
}

struct WrongSegment {
  const char* name;
  bool backward;
  std::function<void(Segment&)> spoil;
  const char* field;
};

class WrongSegmentTest : public testing::TestWithParam<WrongSegment> {};

TEST_P(WrongSegmentTest, NamesTheField) {
  const bool backward = GetParam().backward;
  const NormSpec spec = backward ? BackwardSpec() : ForwardSpec();
  Segment segment = backward ? BackwardSegment() : ForwardSegment();
  ASSERT_TRUE(Validate(spec).ok()) << Validate(spec);
  ASSERT_TRUE(Validate(spec, segment).ok()) << Validate(spec, segment);
  GetParam().spoil(segment);
  const absl::Status status = Validate(spec, segment);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(status), GetParam().field) << status;
}

std::string NameOf(const testing::TestParamInfo<WrongSegment>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Scalars, WrongSegmentTest,
    testing::Values(
        WrongSegment{"EpsNegative", false, [](Segment& s) { s.eps = -1e-5F; }, "op.eps"},
        WrongSegment{"EpsNan", false, [](Segment& s) { s.eps = std::nanf(""); }, "op.eps"},
        WrongSegment{"EpsInf", true,
                     [](Segment& s) { s.eps = std::numeric_limits<float>::infinity(); }, "op.eps"},
        WrongSegment{"RowsNegative", false, [](Segment& s) { s.rows = -1; }, "x.shape"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    NoData, WrongSegmentTest,
    testing::Values(
        WrongSegment{"X", false, [](Segment& s) { s.x.data = nullptr; }, "x"},
        WrongSegment{"Z", false, [](Segment& s) { s.z.data = nullptr; }, "z"},
        WrongSegment{"Residual", false, [](Segment& s) { s.residual.data = nullptr; }, "residual"},
        WrongSegment{"Weight", false, [](Segment& s) { s.weight = nullptr; }, "weight"},
        WrongSegment{"Bias", false, [](Segment& s) { s.bias = nullptr; }, "bias"},
        WrongSegment{"Y", false, [](Segment& s) { s.y.data = nullptr; }, "y"},
        WrongSegment{"ResidualOut", false, [](Segment& s) { s.residual_out.data = nullptr; },
                     "residual_out"},
        WrongSegment{"MeanOut", false, [](Segment& s) { s.mean_out = nullptr; }, "mean"},
        WrongSegment{"RstdOut", false, [](Segment& s) { s.rstd_out = nullptr; }, "rstd"},
        WrongSegment{"Dy", true, [](Segment& s) { s.dy.data = nullptr; }, "dy"},
        WrongSegment{"DresidualOut", true, [](Segment& s) { s.dresidual_out.data = nullptr; },
                     "dresidual_out"},
        WrongSegment{"Mean", true, [](Segment& s) { s.mean = nullptr; }, "mean"},
        WrongSegment{"Rstd", true, [](Segment& s) { s.rstd = nullptr; }, "rstd"},
        WrongSegment{"Dx", true, [](Segment& s) { s.dx.data = nullptr; }, "dx"},
        WrongSegment{"Dz", true, [](Segment& s) { s.dz.data = nullptr; }, "dz"},
        WrongSegment{"Dresidual", true, [](Segment& s) { s.dresidual.data = nullptr; },
                     "dresidual"},
        WrongSegment{"Dweight", true, [](Segment& s) { s.dweight = nullptr; }, "dweight"},
        WrongSegment{"Dbias", true, [](Segment& s) { s.dbias = nullptr; }, "dbias"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Layout, WrongSegmentTest,
    testing::Values(
        WrongSegment{"XMisaligned", false, [](Segment& s) { s.x.data = At(0x1002); }, "x"},
        WrongSegment{"YMisaligned", false, [](Segment& s) { s.y.data = At(0x6001); }, "y"},
        WrongSegment{"BiasMisaligned", false, [](Segment& s) { s.bias = At(0x5002); }, "bias"},
        WrongSegment{"MeanMisaligned", false, [](Segment& s) { s.mean_out = At<float>(0x8001); },
                     "mean"},
        WrongSegment{"StrideShort", false, [](Segment& s) { s.x.row_stride = kWidth - 1; }, "x"},
        WrongSegment{"StrideZero", true, [](Segment& s) { s.dy.row_stride = 0; }, "dy"},
        WrongSegment{"StrideNegative", true, [](Segment& s) { s.dx.row_stride = -kWidth; }, "dx"},
        WrongSegment{"StrideOverflows", false,
                     [](Segment& s) { s.z.row_stride = std::numeric_limits<int64_t>::max(); }, "z"},
        WrongSegment{"BytesOverflow", false,
                     [](Segment& s) { s.z.row_stride = std::numeric_limits<int64_t>::max() / 4; },
                     "z"},
        WrongSegment{"AddressOverflows", false,
                     [](Segment& s) { s.z.data = At(~uintptr_t{0} - 15); }, "z"},
        WrongSegment{"RowsOverflow", false,
                     [](Segment& s) { s.rows = std::numeric_limits<int64_t>::max(); }, "x"}),
    NameOf);

TEST(SegmentTest, ZeroRowsNeedParametersOnly) {
  Segment forward;
  forward.weight = At(0x4000);
  forward.bias = At(0x5000);
  EXPECT_TRUE(Validate(ForwardSpec(), forward).ok());
  Segment backward = forward;
  backward.dweight = At(0xC000);
  EXPECT_EQ(FieldOf(Validate(BackwardSpec(), backward)), "dbias");
  backward.dbias = At(0xD000);
  EXPECT_TRUE(Validate(BackwardSpec(), backward).ok());
}

TEST(SegmentTest, OneRowNeedsNoStride) {
  Segment segment = ForwardSegment();
  segment.rows = 1;
  segment.x.row_stride = segment.y.row_stride = 0;
  EXPECT_TRUE(Validate(ForwardSpec(), segment).ok());
}

TEST(SegmentTest, ElementsOfTwoBytesMayStartAtTwo) {
  NormSpec spec = ForwardSpec();
  spec.dtype = DataType::kBFloat16;
  Segment segment = ForwardSegment();
  segment.x.data = At(0x1002);
  EXPECT_TRUE(Validate(spec, segment).ok());
}

TEST(SegmentTest, PointersThatTheSpecDoesNotHaveAreNotLookedAt) {
  NormSpec spec;
  spec.width = spec.group = kWidth;
  spec.want_y = true;
  Segment segment = ForwardSegment();
  segment.z.data = segment.weight = At(0x6001);
  EXPECT_TRUE(Validate(spec, segment).ok());
}

TEST(SegmentTest, EpsZeroIsLegal) {
  Segment segment = ForwardSegment();
  segment.eps = 0;
  EXPECT_TRUE(Validate(ForwardSpec(), segment).ok());
}

}  // namespace
}  // namespace normd
