// Identities of the formulas, as properties of what a backend computes. Each compares the backend
// with itself, so it holds whatever the oracle says.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "tests/conformance/checker.h"
#include "tests/conformance/random.h"
#include "tests/conformance/suite.h"
#include "tests/conformance/values.h"
#include "tests/oracle/bounded.h"
#include "tests/oracle/element.h"

namespace normd {
namespace {

NormSpec MakeSpec(Direction direction, NormKind kind, int64_t width, DataType dtype) {
  NormSpec spec;
  spec.direction = direction;
  spec.kind = kind;
  spec.width = spec.group = width;
  spec.dtype = spec.dy_dtype = dtype;
  (direction == Direction::kForward ? spec.want_y : spec.want_dx) = true;
  return spec;
}

SlotBytes RunOne(const NormSpec& spec, const Operands& operands, Slot slot) {
  PlacedSegment segment;
  segment.operands = operands;
  const auto outcome = SharedLauncher().Run(spec, {segment}, MemoryKind::kDevice);
  if (!outcome.ok()) {
    ADD_FAILURE() << outcome.status();
    return {};
  }
  EXPECT_TRUE(outcome->segments[0].faults.empty()) << Lines(outcome->segments[0].faults);
  CountPoints(1);
  return outcome->segments[0].outputs[IndexOf(slot)];
}

std::vector<double> Scaled(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

class ConformanceIdentity : public testing::TestWithParam<std::tuple<NormKind, int64_t>> {
 protected:
  NormKind kind() const { return std::get<0>(GetParam()); }
  int64_t width() const { return std::get<1>(GetParam()); }
  bool layer_norm() const { return kind() == NormKind::kLayerNorm; }

  Operands MakeOperands(DataType dtype, float eps) {
    Operands in;
    in.rows = 5;
    in.eps = eps;
    in.x = PlainValues(dtype, in.rows * width(), -3, 4, random_);
    in.dy = PlainValues(dtype, in.rows * width(), -1, 1, random_);
    return in;
  }

  Random random_{static_cast<uint64_t>(width())};
};

// sum_j dx_j = 0 for LayerNorm, with a weight too.
TEST_P(ConformanceIdentity, InputGradientOfLayerNormSumsToZero) {
  if (!layer_norm()) return;  // the identity is LayerNorm's
  NormSpec spec = MakeSpec(Direction::kBackward, kind(), width(), DataType::kFloat32);
  spec.has_weight = true;
  Operands in = MakeOperands(spec.dtype, 1e-5F);
  in.weight = PlainValues(DataType::kFloat32, width(), -1, 2, random_);
  const SlotBytes dx = RunOne(spec, in, Slot::kDx);
  ASSERT_EQ(dx.size(), in.rows * width());
  const Results right = RunOracle(spec, in);
  for (int64_t row = 0; row < in.rows; ++row) {
    double sum = 0;
    double bound = 0;
    for (int64_t i = row * width(); i < (row + 1) * width(); ++i) {
      sum += dx.at(i);
      bound += right.dx.error[static_cast<size_t>(i)] + kStep * std::abs(dx.at(i));
    }
    EXPECT_LE(std::abs(sum), bound) << "row " << row;
  }
}

// Multiplication by a power of two, eps by its square, is exact in every operation: the same bits.
TEST_P(ConformanceIdentity, PowerOfTwoScalingKeepsTheBits) {
  const NormSpec spec = MakeSpec(Direction::kForward, kind(), width(), DataType::kFloat32);
  const Operands in = MakeOperands(spec.dtype, 0x1p-16F);
  const SlotBytes y = RunOne(spec, in, Slot::kY);
  for (const int exponent : {-40, -7, 1, 20, 45, 52}) {
    Operands scaled = in;
    scaled.x = Scaled(in.x, std::exp2(exponent));
    scaled.eps = std::ldexp(in.eps, 2 * exponent);
    EXPECT_EQ(RunOne(spec, scaled, Slot::kY), y) << "2^" << exponent;
  }
}

// The same where squares overflow fp32: within the tolerance, since a rescaled row may round apart.
TEST_P(ConformanceIdentity, HugeRowsNormaliseLikeSmallOnes) {
  const NormSpec spec = MakeSpec(Direction::kForward, kind(), width(), DataType::kFloat32);
  const Operands in = MakeOperands(spec.dtype, 0);
  const Results right = RunOracle(spec, in);
  for (const int exponent : {66, 100, 124}) {
    Operands scaled = in;
    scaled.x = Scaled(in.x, std::exp2(exponent));
    const SlotBytes y = RunOne(spec, scaled, Slot::kY);
    ASSERT_EQ(y.size(), in.rows * width());
    for (int64_t i = 0; i < y.size(); ++i) {
      const auto at = static_cast<size_t>(i);
      ASSERT_TRUE(Accepts(spec.dtype, right.y.value[at], right.y.error[at], y.at(i)))
          << "2^" << exponent << " at " << i << ": " << y.at(i) << " is not " << right.y.value[at];
    }
  }
}

// x + constant: on a grid of integers the sum, and LayerNorm's deviations, are exact.
TEST_P(ConformanceIdentity, LayerNormDoesNotSeeAShift) {
  if (!layer_norm()) return;
  const NormSpec spec = MakeSpec(Direction::kForward, kind(), width(), DataType::kFloat32);
  Operands in = MakeOperands(spec.dtype, 1e-5F);
  for (double& x : in.x) x = std::rint(x * 8);
  const Results right = RunOracle(spec, in);
  for (const double shift : {-512.0, 4096.0, 1048576.0}) {
    Operands shifted = in;
    for (double& x : shifted.x) x += shift;
    const SlotBytes y = RunOne(spec, shifted, Slot::kY);
    ASSERT_EQ(y.size(), in.rows * width());
    for (int64_t i = 0; i < y.size(); ++i) {
      const auto at = static_cast<size_t>(i);
      ASSERT_TRUE(Accepts(spec.dtype, right.y.value[at], right.y.error[at], y.at(i)))
          << "shift " << shift << " at " << i;
    }
  }
}

// sum dx * h -> 0 as eps -> 0: with eps = 0 nothing is left but rounding.
TEST_P(ConformanceIdentity, InputGradientIsOrthogonalToTheNormalisedRow) {
  if (width() < 3) return;  // LayerNorm of two elements has no direction left
  const NormSpec backward = MakeSpec(Direction::kBackward, kind(), width(), DataType::kFloat32);
  const NormSpec forward = MakeSpec(Direction::kForward, kind(), width(), DataType::kFloat32);
  double last = HUGE_VAL;
  for (const float eps : {1.0F, 1e-2F, 1e-4F, 0.0F}) {
    random_ = Random(static_cast<uint64_t>(width()));
    const Operands in = MakeOperands(DataType::kFloat32, eps);
    const SlotBytes dx = RunOne(backward, in, Slot::kDx);
    const SlotBytes h = RunOne(forward, in, Slot::kY);
    ASSERT_EQ(dx.size(), h.size());
    double sum = 0;
    double magnitude = 0;
    for (int64_t i = 0; i < width(); ++i) {
      sum += dx.at(i) * h.at(i);
      magnitude += std::abs(dx.at(i) * h.at(i));
    }
    const double relative = std::abs(sum) / magnitude;
    EXPECT_LE(relative, std::max(last / 10, 1e-5)) << "eps " << eps;
    if (eps == 0) {
      EXPECT_LE(relative, 4 * SumSteps(static_cast<double>(width())) * kStep);
    }
    last = relative;
  }
}

std::string IdentityName(const testing::TestParamInfo<std::tuple<NormKind, int64_t>>& info) {
  const bool layer_norm = std::get<0>(info.param) == NormKind::kLayerNorm;
  return (layer_norm ? "layer_norm_" : "rms_norm_") + std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(All, ConformanceIdentity,
                         testing::Combine(testing::Values(NormKind::kLayerNorm, NormKind::kRmsNorm),
                                          testing::Values(2, 16, 17, 64, 97, 256, 1000, 4099,
                                                          16384)),
                         IdentityName);

}  // namespace
}  // namespace normd
