// Rows whose sums leave fp32: the exact path, in tiles and in chunks, beside rows that need none.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/tiling.h"
#include "tests/conformance/checker.h"
#include "tests/conformance/launcher.h"
#include "tests/oracle/oracle.h"

namespace normd {
namespace {

constexpr double kLargest = std::numeric_limits<float>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Some value between -1 and 1 for an index.
double Wave(int64_t i) { return static_cast<float>(std::sin(0.7 * static_cast<double>(i) + 1)); }

class CpuExtremeValuesTest : public testing::TestWithParam<int64_t> {
 protected:
  int64_t width() const { return GetParam(); }

  NormSpec Spec(NormKind kind, Direction direction) const {
    NormSpec spec;
    spec.kind = kind;
    spec.direction = direction;
    spec.width = spec.group = width();
    if (direction == Direction::kForward) {
      spec.want_y = spec.want_rstd = true;
      spec.want_mean = kind == NormKind::kLayerNorm;
    } else {
      spec.want_dx = true;
    }
    return spec;
  }

  // Rows of wave * scale, one for each scale.
  Operands Rows(const std::vector<double>& scales, float eps) const {
    Operands operands;
    operands.rows = static_cast<int64_t>(scales.size());
    operands.eps = eps;
    for (const double scale : scales) {
      for (int64_t c = 0; c < width(); ++c) {
        operands.x.push_back(static_cast<float>(Wave(c) * scale));
        operands.dy.push_back(Wave(3 * c + 1));
      }
    }
    return operands;
  }

  SegmentOutcome Outcome(const NormSpec& spec, const Operands& operands) {
    PlacedSegment placed;
    placed.operands = operands;
    const auto outcome = launcher_.Run(spec, {&placed, 1}, MemoryKind::kDevice);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return outcome.ok() ? outcome->segments.front() : SegmentOutcome();
  }

  void ExpectRight(const NormSpec& spec, const Operands& operands) {
    const auto faults =
        FaultsOf(spec, operands, RunOracle(spec, operands), Outcome(spec, operands));
    EXPECT_EQ(Lines(faults), "");
  }

  std::unique_ptr<Backend> backend_ = *NewCpuBackend({.threads = 1});
  Launcher launcher_{*backend_};
};

TEST_P(CpuExtremeValuesTest, ForwardOfHugeTinyAndOrdinaryRows) {
  for (const NormKind kind : {NormKind::kLayerNorm, NormKind::kRmsNorm}) {
    const NormSpec spec = Spec(kind, Direction::kForward);
    ExpectRight(spec, Rows({1, 1e20, 3e38, 1, 1e19}, 1e-5F));
    ExpectRight(spec, Rows({1, 1e-20, 1e-38, 1e-10, 1e20}, 0));
  }
}

TEST_P(CpuExtremeValuesTest, BackwardOfHugeTinyAndOrdinaryRows) {
  for (const NormKind kind : {NormKind::kLayerNorm, NormKind::kRmsNorm}) {
    const NormSpec spec = Spec(kind, Direction::kBackward);
    ExpectRight(spec, Rows({1, 1e20, 1e30, 1, 1e19}, 1e-5F));
    ExpectRight(spec, Rows({1, 1e-20, 1e-25, 1e-10, 1e20}, 0));
  }
}

TEST_P(CpuExtremeValuesTest, SubnormalRowsAreNormalised) {
  const NormSpec spec = Spec(NormKind::kLayerNorm, Direction::kForward);
  const Operands operands = Rows({1e-43}, 0);
  const SegmentOutcome outcome = Outcome(spec, operands);
  double squares = 0;
  const SlotBytes& y = outcome.outputs[IndexOf(Slot::kY)];
  for (int64_t i = 0; i < width(); ++i) squares += y.at(i) * y.at(i);
  EXPECT_NEAR(squares / static_cast<double>(width()), 1, 1e-5);
}

TEST_P(CpuExtremeValuesTest, AConstantRowIsZeroWhateverItsValue) {
  const NormSpec spec = Spec(NormKind::kLayerNorm, Direction::kForward);
  for (const double value : {kLargest, -kLargest, 1.0 / 3, 1e30, 1e-40, 0.0}) {
    Operands operands;
    operands.rows = 1;
    operands.eps = 1e-5F;
    operands.x.assign(static_cast<size_t>(width()), static_cast<float>(value));
    const SegmentOutcome outcome = Outcome(spec, operands);
    const SlotBytes& y = outcome.outputs[IndexOf(Slot::kY)];
    for (int64_t i = 0; i < width(); ++i) ASSERT_EQ(y.at(i), 0) << value << " at " << i;
    EXPECT_EQ(outcome.outputs[IndexOf(Slot::kMeanOut)].at(0), static_cast<float>(value));
  }
}

TEST_P(CpuExtremeValuesTest, NanAndInfinityStayInTheirRow) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const NormKind kind : {NormKind::kLayerNorm, NormKind::kRmsNorm}) {
    for (const double bad : {nan, kInfinity, -kInfinity}) {
      Operands operands = Rows({1, 2, 3}, 1e-5F);
      operands.x[static_cast<size_t>(width() + width() / 2)] = bad;
      ExpectRight(Spec(kind, Direction::kForward), operands);
      ExpectRight(Spec(kind, Direction::kBackward), operands);
    }
  }
}

TEST_P(CpuExtremeValuesTest, ASavedRstdThatOverflowedIsComputedAgain) {
  NormSpec spec = Spec(NormKind::kRmsNorm, Direction::kBackward);
  Operands operands = Rows({1e-43}, 0);
  for (double& dy : operands.dy) dy = static_cast<float>(dy * 1e-38);
  const SegmentOutcome recomputed = Outcome(spec, operands);
  spec.has_statistics = true;
  operands.rstd = {kInfinity};
  const SegmentOutcome saved = Outcome(spec, operands);
  EXPECT_TRUE(std::isfinite(recomputed.outputs[IndexOf(Slot::kDx)].at(0)));
  EXPECT_EQ(Lines(BitDifferences(saved, recomputed)), "");
}

TEST_P(CpuExtremeValuesTest, AGateMayTakeTheRowOutOfFloat) {
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    NormSpec spec = Spec(NormKind::kRmsNorm, direction);
    spec.gate = GateActivation::kSilu;
    spec.gate_order = GateOrder::kGateThenNorm;
    Operands operands = Rows({1e10, 1}, 1e-5F);
    // x * a(z) reaches 1e40 in the first row.
    for (int64_t r = 0; r < 2; ++r) {
      for (int64_t c = 0; c < width(); ++c) {
        operands.z.push_back(static_cast<float>((2 + Wave(c)) * (r == 0 ? 1e30 : 1)));
      }
    }
    const SegmentOutcome outcome = Outcome(spec, operands);
    const Slot slot = direction == Direction::kForward ? Slot::kY : Slot::kDx;
    for (int64_t i = 0; i < 2 * width(); ++i) {
      ASSERT_TRUE(std::isfinite(outcome.outputs[IndexOf(slot)].at(i))) << i;
    }
    ExpectRight(spec, operands);
  }
}

// One vector and a part, a whole tile, and two chunks of a group that streams.
INSTANTIATE_TEST_SUITE_P(Widths, CpuExtremeValuesTest,
                         testing::Values(2, 19, 1024, kMaxTileColumns + 77));

}  // namespace
}  // namespace normd
