// The oracle against central differences of itself, over every combination of op options, and
// against definitions that differences cannot see (roundings, saved statistics).
#include "tests/oracle/oracle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/oracle/element.h"

namespace normd {
namespace {

constexpr int64_t kRows = 3;
constexpr int64_t kWidth = 6;

std::vector<double> Random(std::mt19937& random, int64_t count, double low, double high) {
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<double> values(static_cast<size_t>(count));
  for (double& value : values) value = uniform(random);
  return values;
}

// dL/dv of L = sum(dy * y) + sum(dresidual_out * t), with v the tensor that `tensor` picks. The
// fused sum is taken as done (x is residual_out), which is what backward sees.
std::vector<double> Differences(NormSpec spec, Operands operands,
                                std::vector<double> Operands::*tensor) {
  spec.direction = Direction::kForward;
  spec.want_dx = false;
  spec.want_y = true;
  spec.has_residual = false;
  spec.has_dresidual_out = false;
  const auto loss = [&] {
    const Results results = RunOracle(spec, operands);
    double sum = 0;
    for (size_t i = 0; i < results.y.value.size(); ++i) {
      sum += operands.dy[i] * results.y.value[i];
      if (!operands.dresidual_out.empty()) sum += operands.dresidual_out[i] * operands.x[i];
    }
    return sum;
  };
  std::vector<double> slopes;
  for (double& value : operands.*tensor) {
    constexpr double kDelta = 1e-5;
    const double kept = value;
    value = kept + kDelta;
    const double above = loss();
    value = kept - kDelta;
    const double below = loss();
    value = kept;
    slopes.push_back((above - below) / (2 * kDelta));
  }
  return slopes;
}

void ExpectClose(const std::vector<double>& got, const std::vector<double>& right,
                 const std::string& what) {
  ASSERT_EQ(got.size(), right.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], right[i], 2e-8 * (1 + std::abs(right[i]))) << what << " at " << i;
  }
}

struct Combination {
  NormSpec spec;
  std::string name;
};

void AddAffineAndResidual(const NormSpec& base, const std::string& name,
                          std::vector<Combination>& all) {
  for (const float offset : {0.0F, 1.0F}) {
    for (int affine = 0; affine < 4; ++affine) {
      for (const bool residual : {false, true}) {
        NormSpec spec = base;
        spec.weight_offset = offset;
        spec.has_weight = (affine & 1) != 0;
        spec.has_bias = (affine & 2) != 0;
        spec.has_residual = residual;
        spec.has_dresidual_out = residual;
        if (residual && spec.gate_order == GateOrder::kGateThenNorm) continue;
        all.push_back({spec, absl::StrCat(name, " offset ", offset, " affine ", affine,
                                          residual ? " residual" : "")});
      }
    }
  }
}

// kind x groups x gate order x activation x offset x weight/bias x residual
std::vector<Combination> AllCombinations() {
  std::vector<Combination> all;
  for (const NormKind kind : {NormKind::kLayerNorm, NormKind::kRmsNorm}) {
    for (const int64_t group : {kWidth, kWidth / 2, kWidth / 3}) {
      for (const GateOrder order :
           {GateOrder::kNone, GateOrder::kNormThenGate, GateOrder::kGateThenNorm}) {
        for (const GateActivation gate : {GateActivation::kSilu, GateActivation::kSigmoid}) {
          const bool gated = order != GateOrder::kNone;
          if (!gated && gate == GateActivation::kSigmoid) continue;
          NormSpec spec;
          spec.direction = Direction::kBackward;
          spec.kind = kind;
          spec.width = kWidth;
          spec.group = group;
          spec.gate_order = order;
          spec.gate = gated ? gate : GateActivation::kNone;
          spec.want_dx = true;
          AddAffineAndResidual(
              spec,
              absl::StrCat(static_cast<int>(kind), " group ", group, " order ",
                           static_cast<int>(order), " gate ", static_cast<int>(gate)),
              all);
        }
      }
    }
  }
  return all;
}

Operands RandomOperands(const NormSpec& spec, std::mt19937& random) {
  const int64_t elements = kRows * kWidth;
  Operands operands;
  operands.rows = kRows;
  operands.eps = 1e-3F;
  operands.x = Random(random, elements, -2, 2);
  operands.dy = Random(random, elements, -1, 1);
  if (spec.has_gate()) operands.z = Random(random, elements, -3, 3);
  if (spec.has_weight) operands.weight = Random(random, kWidth, -1, 2);
  if (spec.has_bias) operands.bias = Random(random, kWidth, -1, 1);
  if (spec.has_residual) operands.dresidual_out = Random(random, elements, -1, 1);
  return operands;
}

TEST(Oracle, BackwardIsTheDerivativeOfForward) {
  std::mt19937 random(11);
  const std::vector<Combination> all = AllCombinations();
  EXPECT_EQ(all.size(), 384U);
  for (const Combination& combination : all) {
    const NormSpec& spec = combination.spec;
    ASSERT_TRUE(Validate(spec).ok()) << combination.name << Validate(spec);
    const Operands operands = RandomOperands(spec, random);
    const Results results = RunOracle(spec, operands);
    const auto check = [&](const Reference& got, std::vector<double> Operands::*tensor,
                           const char* what) {
      if ((operands.*tensor).empty()) return;
      ExpectClose(got.value, Differences(spec, operands, tensor),
                  absl::StrCat(combination.name, " ", what));
    };
    check(results.dx, &Operands::x, "dx");
    check(results.dz, &Operands::z, "dz");
    check(results.dweight, &Operands::weight, "dweight");
    check(results.dbias, &Operands::bias, "dbias");
    if (spec.has_residual) {
      EXPECT_EQ(results.dresidual.value, results.dx.value);
    }
  }
}

NormSpec HalfSpec(Direction direction) {
  NormSpec spec;
  spec.direction = direction;
  spec.width = kWidth;
  spec.group = kWidth;
  spec.dtype = DataType::kBFloat16;
  (direction == Direction::kForward ? spec.want_y : spec.want_dx) = true;
  return spec;
}

TEST(Oracle, ResidualStatisticsAreThoseOfTheRoundedSum) {
  std::mt19937 random(5);
  NormSpec spec = HalfSpec(Direction::kForward);
  spec.has_residual = true;
  Operands operands = RandomOperands(spec, random);
  operands.x = RoundedTo(spec.dtype, operands.x);
  operands.residual = RoundedTo(spec.dtype, Random(random, kRows * kWidth, -2, 2));
  const Results fused = RunOracle(spec, operands);

  std::vector<double> sum;
  for (size_t i = 0; i < operands.x.size(); ++i)
    sum.push_back(operands.x[i] + operands.residual[i]);
  EXPECT_EQ(fused.residual_out.value, RoundedTo(spec.dtype, sum));
  spec.has_residual = false;
  operands.x = fused.residual_out.value;
  EXPECT_EQ(RunOracle(spec, operands).y.value, fused.y.value);
}

TEST(Oracle, RoundBeforeWeightRoundsForwardAndParameterGradientsOnly) {
  std::mt19937 random(6);
  NormSpec spec = HalfSpec(Direction::kForward);
  spec.has_weight = true;
  Operands operands = RandomOperands(spec, random);
  NormSpec unweighted = spec;
  unweighted.has_weight = false;
  const std::vector<double> h = RunOracle(unweighted, operands).y.value;
  const std::vector<double> rounded = RoundedTo(spec.dtype, h);

  spec.round_before_weight = true;
  const Results forward = RunOracle(spec, operands);
  spec = HalfSpec(Direction::kBackward);
  spec.has_weight = true;
  const Results plain = RunOracle(spec, operands);
  spec.round_before_weight = true;
  const Results backward = RunOracle(spec, operands);
  for (size_t c = 0; c < kWidth; ++c) {
    double dweight = 0;
    for (size_t i = c; i < h.size(); i += kWidth) {
      EXPECT_DOUBLE_EQ(forward.y.value[i], rounded[i] * operands.weight[c]);
      dweight += operands.dy[i] * rounded[i];
    }
    EXPECT_DOUBLE_EQ(backward.dweight.value[c], dweight);
  }
  EXPECT_EQ(backward.dx.value, plain.dx.value);
}

TEST(Oracle, SavedStatisticsAreUsedAsTheyAre) {
  std::mt19937 random(8);
  NormSpec spec = HalfSpec(Direction::kBackward);
  Operands operands = RandomOperands(spec, random);
  const std::vector<double> recomputed = RunOracle(spec, operands).dx.value;
  NormSpec forward = HalfSpec(Direction::kForward);
  const Results statistics = RunOracle(forward, operands);
  spec.has_statistics = true;
  operands.mean = statistics.mean.value;
  operands.rstd = statistics.rstd.value;
  EXPECT_EQ(RunOracle(spec, operands).dx.value, recomputed);
  for (double& rstd : operands.rstd) rstd *= 2;
  EXPECT_NE(RunOracle(spec, operands).dx.value, recomputed);
}

TEST(Oracle, OneElementIsItsOwnMeanWhateverWasSaved) {
  std::mt19937 random(10);
  NormSpec spec = HalfSpec(Direction::kBackward);
  spec.group = 1;
  spec.has_statistics = spec.has_weight = true;
  Operands operands = RandomOperands(spec, random);
  operands.mean.assign(kRows * kWidth, 17.0);
  operands.rstd.assign(kRows * kWidth, 3.0);
  const Results results = RunOracle(spec, operands);
  EXPECT_EQ(results.dx.value, std::vector<double>(kRows * kWidth, 0.0));
  EXPECT_EQ(results.dweight.value, std::vector<double>(kWidth, 0.0));
}

TEST(Oracle, ConstantRowsGiveTheBiasExactly) {
  NormSpec spec = HalfSpec(Direction::kForward);
  spec.has_weight = spec.has_bias = true;
  std::mt19937 random(9);
  Operands operands = RandomOperands(spec, random);
  operands.x.assign(operands.x.size(), RoundTo(DataType::kFloat32, 3.4e38));
  const Results results = RunOracle(spec, operands);
  for (size_t i = 0; i < results.y.value.size(); ++i) {
    EXPECT_EQ(results.y.value[i], operands.bias[i % kWidth]);
    EXPECT_EQ(results.y.error[i], 0);
  }
}

TEST(Oracle, NoRowsGiveZeroParameterGradients) {
  NormSpec spec = HalfSpec(Direction::kBackward);
  spec.has_weight = spec.has_bias = true;
  Operands operands;
  operands.weight.assign(kWidth, 1);
  operands.bias.assign(kWidth, 1);
  const Results results = RunOracle(spec, operands);
  EXPECT_EQ(results.dweight.value, std::vector<double>(kWidth, 0.0));
  EXPECT_EQ(results.dbias.value, std::vector<double>(kWidth, 0.0));
}

}  // namespace
}  // namespace normd
