#include "tests/oracle/bounded.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace normd {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Bounded, ExactZerosAddNothing) {
  const Bounded zero = Bounded::Exact(0);
  const Bounded third = Bounded::Exact(1.0 / 3);
  EXPECT_EQ((zero + third).error, 0);
  EXPECT_EQ((zero * third).error, 0);
  EXPECT_GT((third + third).error, 0);
  EXPECT_GT((third * third).error, 0);
}

TEST(Bounded, MeanOfEqualElementsIsExact) {
  const std::vector<Bounded> equal(97, Bounded::Exact(0.1f));
  EXPECT_EQ(CorrectedMean(equal).error, 0);
  EXPECT_EQ(CorrectedMean(equal).value, static_cast<double>(0.1f));
  EXPECT_GT(Mean(equal).error, 0);
}

// fp32 sums in blocks of eight lanes stay inside the bound, one accumulator does not.
TEST(Bounded, SumBoundSeparatesBlocksFromOneAccumulator) {
  const int n = 1 << 20;
  std::vector<Bounded> terms;
  float total = 0;
  float serial = 0;
  std::vector<float> lanes(8, 0.0F);
  for (int i = 0; i < n; ++i) {
    const float term = i % 2 == 0 ? 0.3F : 0.1F;
    terms.push_back(Bounded::Exact(term));
    lanes[static_cast<size_t>(i % 8)] += term;
    serial += term;
    if (i % 1024 != 1023) continue;
    float block = 0;
    for (float& lane : lanes) block += std::exchange(lane, 0.0F);
    total += block;
  }
  const Bounded mean = Mean(terms);
  EXPECT_LE(std::abs(static_cast<double>(total) / n - mean.value), mean.error);
  EXPECT_GT(std::abs(static_cast<double>(serial) / n - mean.value), mean.error);
}

TEST(Bounded, Fp32SigmoidStaysInsideItsBound) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-100, 100);
  for (int i = 0; i < 100000; ++i) {
    const float z = uniform(random);
    const float s = 1 / (1 + std::exp(-z));
    const Bounded right = Sigmoid(Bounded::Exact(z));
    ASSERT_LE(std::abs(static_cast<double>(s) - right.value), right.error) << z;
    const Bounded rest = OneMinusSigmoid(Bounded::Exact(z));
    ASSERT_LE(std::abs(static_cast<double>(1 - s) - rest.value), rest.error) << z;
  }
}

TEST(Bounded, InfiniteOperandsLeaveNoBound) {
  const Bounded infinity = Bounded::Exact(kInfinity);
  EXPECT_EQ(Rsqrt(infinity).value, 0);
  EXPECT_EQ(Rsqrt(infinity).error, 0);
  EXPECT_TRUE(std::isnan((infinity * Rsqrt(infinity)).value));
  EXPECT_EQ(Rsqrt(Bounded::Exact(0)).value, kInfinity);
}

TEST(Bounded, AcceptsRoundsTheEndsOfTheInterval) {
  // 1 + 2^-9 lies in the middle of two bf16 values; without a bound it goes to the even one.
  const double middle = 1 + 0x1p-8;
  EXPECT_TRUE(Accepts(DataType::kBFloat16, middle, 0, 1.0));
  EXPECT_FALSE(Accepts(DataType::kBFloat16, middle, 0, 1 + 0x1p-7));
  EXPECT_TRUE(Accepts(DataType::kBFloat16, middle, 1e-7, 1 + 0x1p-7));
  EXPECT_FALSE(Accepts(DataType::kBFloat16, middle, 1e-7, 1 + 0x1p-6));
}

TEST(Bounded, AcceptsComparesNanAndInfinityByKind) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(Accepts(DataType::kFloat32, nan, 0, nan));
  EXPECT_FALSE(Accepts(DataType::kFloat32, nan, 0, 1.0));
  EXPECT_FALSE(Accepts(DataType::kFloat32, 1.0, 0.1, nan));
  EXPECT_TRUE(Accepts(DataType::kFloat32, kInfinity, 0, kInfinity));
  EXPECT_FALSE(Accepts(DataType::kFloat32, kInfinity, 0, -kInfinity));
  EXPECT_FALSE(Accepts(DataType::kFloat32, kInfinity, 0, 3e38));
  EXPECT_TRUE(Accepts(DataType::kFloat16, 70000, 1, kInfinity));
}

}  // namespace
}  // namespace normd
