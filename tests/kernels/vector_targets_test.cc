// Every instruction set that this processor has gives right results, not only the best one.
#include "kernels/cpu/vector_targets.h"
// Before all of Highway.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "hwy/highway.h"
#include "hwy/targets.h"
#include "kernels/cpu/cpu_backend.h"
#include "tests/conformance/axes.h"
#include "tests/conformance/checker.h"
#include "tests/conformance/workload.h"
#include "tests/oracle/element.h"

namespace normd {
namespace {

// Restricts the kernels to one instruction set while it lives.
class OnlyTarget {
 public:
  explicit OnlyTarget(int64_t target) { Use(target); }
  ~OnlyTarget() { Use(0); }

 private:
  static void Use(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

class VectorTargetsTest : public testing::TestWithParam<int64_t> {
 protected:
  // t = x + residual rounded to the dtype of x, as residual_out gives it.
  std::vector<double> Rounded(DataType dtype, std::vector<double> x, std::vector<double> residual) {
    NormSpec spec;
    spec.width = spec.group = static_cast<int64_t>(x.size());
    spec.dtype = dtype;
    spec.has_residual = spec.want_residual_out = true;
    PlacedSegment placed;
    placed.operands.rows = 1;
    placed.operands.x = std::move(x);
    placed.operands.residual = std::move(residual);
    const auto outcome = launcher_.Run(spec, {&placed, 1}, MemoryKind::kDevice);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    std::vector<double> result;
    for (int64_t i = 0; i < spec.width; ++i) {
      result.push_back(outcome->segments.front().outputs[IndexOf(Slot::kResidualOut)].at(i));
    }
    return result;
  }

  OnlyTarget target_{GetParam()};
  std::unique_ptr<Backend> backend_ = *NewCpuBackend({.threads = 1});
  Launcher launcher_{*backend_};
};

TEST_P(VectorTargetsTest, EveryHalfPrecisionValueIsReadAndRoundedRight) {
  for (const DataType dtype : {DataType::kFloat16, DataType::kBFloat16}) {
    for (const double added : {0.0, 1.0, -0.3, 6e-8, 3.1e-5, 1000.0, 65504.0}) {
      const double residual = RoundTo(dtype, added);
      std::vector<double> x;
      for (uint32_t bits = 0; bits < 0x10000; ++bits) x.push_back(Decode(dtype, bits));
      const std::vector<double> got = Rounded(dtype, x, std::vector<double>(x.size(), residual));
      for (size_t i = 0; i < x.size(); ++i) {
        const double right = RoundTo(dtype, x[i] + residual);
        if (std::isnan(right)) {
          ASSERT_TRUE(std::isnan(got[i])) << i;
        } else {
          ASSERT_EQ(got[i], right) << Name(dtype) << " " << x[i] << " + " << residual;
        }
      }
    }
  }
}

TEST_P(VectorTargetsTest, RandomOpsMatchTheOracle) {
  for (uint64_t seed = 1000; seed < 1150; ++seed) {
    const Point point = RandomPoint(seed, 1 << 12);
    SCOPED_TRACE(Label(point));
    const Workload workload = MakeWorkload(point, seed);
    const auto outcome = launcher_.Run(workload.spec, {&workload.segment, 1}, workload.memory);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    const Operands& operands = workload.segment.operands;
    const auto faults = FaultsOf(workload.spec, operands, RunOracle(workload.spec, operands),
                                 outcome->segments.front());
    EXPECT_EQ(Lines(faults), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Supported, VectorTargetsTest,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& test) { return hwy::TargetName(test.param); });

}  // namespace
}  // namespace normd
