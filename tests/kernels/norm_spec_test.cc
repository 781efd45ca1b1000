#include "kernels/norm_spec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "absl/hash/hash.h"
#include "kernels/field_error.h"

namespace normd {
namespace {

NormSpec ForwardSpec() {
  NormSpec spec;
  spec.width = spec.group = 64;
  spec.want_y = true;
  return spec;
}

NormSpec BackwardSpec() {
  NormSpec spec;
  spec.direction = Direction::kBackward;
  spec.width = spec.group = 64;
  spec.want_dx = true;
  return spec;
}

void SetGate(NormSpec& spec, GateOrder order) {
  spec.gate = GateActivation::kSilu;
  spec.gate_order = order;
}

// One thing that makes a right spec wrong, and the field that the error must name.
struct WrongSpec {
  const char* name;
  bool backward;
  std::function<void(NormSpec&)> spoil;
  const char* field;
};

class WrongSpecTest : public testing::TestWithParam<WrongSpec> {};

TEST_P(WrongSpecTest, NamesTheField) {
  NormSpec spec = GetParam().backward ? BackwardSpec() : ForwardSpec();
  ASSERT_TRUE(Validate(spec).ok());
  GetParam().spoil(spec);
  const absl::Status status = Validate(spec);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(status), GetParam().field);
  EXPECT_FALSE(DescriptionOf(status).empty());
}

INSTANTIATE_TEST_SUITE_P(
    Shape, WrongSpecTest,
    testing::Values(
        WrongSpec{"NoColumns", false, [](NormSpec& s) { s.width = s.group = 0; }, "x.shape"},
        WrongSpec{"NegativeWidth", false, [](NormSpec& s) { s.width = s.group = -4; }, "x.shape"},
        WrongSpec{"TooWide", false, [](NormSpec& s) { s.width = s.group = kMaxWidth + 1; },
                  "x.shape"},
        WrongSpec{"NoGroup", false, [](NormSpec& s) { s.group = 0; }, "op.group_size"},
        WrongSpec{"NegativeGroup", false, [](NormSpec& s) { s.group = -8; }, "op.group_size"},
        WrongSpec{"GroupDoesNotDivide", false, [](NormSpec& s) { s.group = 48; }, "op.group_size"},
        WrongSpec{"GroupWiderThanRow", false, [](NormSpec& s) { s.group = 128; }, "op.group_size"},
        WrongSpec{"OffsetNan", false, [](NormSpec& s) { s.weight_offset = std::nanf(""); },
                  "op.weight_offset"},
        WrongSpec{"OffsetInf", false,
                  [](NormSpec& s) { s.weight_offset = std::numeric_limits<float>::infinity(); },
                  "op.weight_offset"}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Gate, WrongSpecTest,
    testing::Values(WrongSpec{"NoOrder", false,
                              [](NormSpec& s) { s.gate = GateActivation::kSigmoid; },
                              "op.gate_order"},
                    WrongSpec{"NoGate", false,
                              [](NormSpec& s) { s.gate_order = GateOrder::kNormThenGate; },
                              "op.gate_order"},
                    WrongSpec{"ResidualBeforeGate", false,
                              [](NormSpec& s) {
                                SetGate(s, GateOrder::kGateThenNorm);
                                s.has_residual = true;
                              },
                              "residual"}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Forward, WrongSpecTest,
    testing::Values(
        WrongSpec{"NoOutput", false, [](NormSpec& s) { s.want_y = false; }, "y"},
        WrongSpec{"MeanOfRmsNorm", false,
                  [](NormSpec& s) {
                    s.kind = NormKind::kRmsNorm;
                    s.want_mean = true;
                  },
                  "mean"},
        WrongSpec{"ResidualOutAlone", false, [](NormSpec& s) { s.want_residual_out = true; },
                  "residual_out"},
        WrongSpec{"Dx", false, [](NormSpec& s) { s.want_dx = true; }, "dx"},
        WrongSpec{"Dz", false, [](NormSpec& s) { s.want_dz = true; }, "dx"},
        WrongSpec{"Dweight", false, [](NormSpec& s) { s.want_dweight = true; }, "dx"},
        WrongSpec{"Dbias", false, [](NormSpec& s) { s.want_dbias = true; }, "dx"},
        WrongSpec{"Dresidual", false, [](NormSpec& s) { s.want_dresidual = true; }, "dx"},
        WrongSpec{"DresidualOut", false, [](NormSpec& s) { s.has_dresidual_out = true; },
                  "dresidual_out"},
        WrongSpec{"Statistics", false, [](NormSpec& s) { s.has_statistics = true; }, "rstd"}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Backward, WrongSpecTest,
    testing::Values(
        WrongSpec{"NoOutput", true, [](NormSpec& s) { s.want_dx = false; }, "dx"},
        WrongSpec{"Y", true, [](NormSpec& s) { s.want_y = true; }, "y"},
        WrongSpec{"Mean", true, [](NormSpec& s) { s.want_mean = true; }, "y"},
        WrongSpec{"Rstd", true, [](NormSpec& s) { s.want_rstd = true; }, "y"},
        WrongSpec{"ResidualOut", true, [](NormSpec& s) { s.want_residual_out = true; }, "y"},
        WrongSpec{"DzWithoutGate", true, [](NormSpec& s) { s.want_dz = true; }, "dz"},
        WrongSpec{"DweightWithoutWeight", true, [](NormSpec& s) { s.want_dweight = true; },
                  "dweight"},
        WrongSpec{"DbiasWithoutBias", true, [](NormSpec& s) { s.want_dbias = true; }, "dbias"},
        WrongSpec{"DresidualAlone", true, [](NormSpec& s) { s.want_dresidual = true; },
                  "dresidual"},
        WrongSpec{"DresidualOutAlone", true, [](NormSpec& s) { s.has_dresidual_out = true; },
                  "dresidual_out"},
        WrongSpec{"DweightDtype", true,
                  [](NormSpec& s) {
                    s.has_weight = s.want_dweight = true;
                    s.weight_dtype = DataType::kBFloat16;
                    s.dweight_dtype = DataType::kFloat16;
                  },
                  "dweight.dtype"},
        WrongSpec{"DbiasDtype", true,
                  [](NormSpec& s) {
                    s.has_bias = s.want_dbias = true;
                    s.dbias_dtype = DataType::kBFloat16;
                  },
                  "dbias.dtype"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(NormSpecTest, AcceptsTheEndsOfTheWidths) {
  NormSpec spec = ForwardSpec();
  spec.width = spec.group = 1;
  EXPECT_TRUE(Validate(spec).ok());
  spec.width = spec.group = kMaxWidth;
  EXPECT_TRUE(Validate(spec).ok());
  spec.group = 1;
  EXPECT_TRUE(Validate(spec).ok());
}

TEST(NormSpecTest, AcceptsParameterGradientsInFloat32OrTheParametersOwn) {
  NormSpec spec = BackwardSpec();
  spec.has_weight = spec.want_dweight = spec.has_bias = spec.want_dbias = true;
  spec.weight_dtype = spec.bias_dtype = DataType::kFloat16;
  EXPECT_TRUE(Validate(spec).ok());
  spec.dweight_dtype = spec.dbias_dtype = DataType::kFloat16;
  EXPECT_TRUE(Validate(spec).ok());
}

TEST(NormSpecTest, AcceptsAResidualWithAGateBehindTheNorm) {
  NormSpec spec = ForwardSpec();
  SetGate(spec, GateOrder::kNormThenGate);
  spec.has_residual = spec.want_residual_out = true;
  EXPECT_TRUE(Validate(spec).ok());
}

TEST(NormSpecTest, IsAKey) {
  const NormSpec a = ForwardSpec();
  NormSpec b = a;
  EXPECT_EQ(a, b);
  EXPECT_EQ(absl::Hash<NormSpec>()(a), absl::Hash<NormSpec>()(b));
  b.weight_offset = 1;
  EXPECT_NE(a, b);
}

TEST(NormSpecTest, NamesOps) {
  NormSpec spec = ForwardSpec();
  EXPECT_STREQ(OpName(spec), "layer_norm");
  SetGate(spec, GateOrder::kNormThenGate);
  EXPECT_STREQ(OpName(spec), "gated_layer_norm");
  spec.kind = NormKind::kRmsNorm;
  EXPECT_STREQ(OpName(spec), "gated_rms_norm");
  spec.gate = GateActivation::kNone;
  EXPECT_STREQ(OpName(spec), "rms_norm");
  EXPECT_STREQ(Name(Direction::kForward), "forward");
  EXPECT_STREQ(Name(Direction::kBackward), "backward");
}

}  // namespace
}  // namespace normd
