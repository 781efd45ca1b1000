// Edges that points do not reach: the widest row, rows at the limits of fp32, far means.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/conformance/checker.h"
#include "tests/conformance/random.h"
#include "tests/conformance/suite.h"
#include "tests/conformance/values.h"
#include "tests/oracle/element.h"

namespace normd {
namespace {

NormSpec ForwardSpec(NormKind kind, int64_t width, DataType dtype) {
  NormSpec spec;
  spec.kind = kind;
  spec.width = spec.group = width;
  spec.dtype = spec.dy_dtype = dtype;
  spec.want_y = spec.want_rstd = true;
  spec.want_mean = kind == NormKind::kLayerNorm;
  return spec;
}

NormSpec BackwardSpec(NormKind kind, int64_t width, DataType dtype) {
  NormSpec spec = ForwardSpec(kind, width, dtype);
  spec.direction = Direction::kBackward;
  spec.want_y = spec.want_rstd = spec.want_mean = false;
  spec.has_weight = spec.want_dx = spec.want_dweight = true;
  return spec;
}

void ExpectRight(const NormSpec& spec, const Operands& operands, const std::string& what) {
  PlacedSegment segment;
  segment.operands = operands;
  const auto outcome = SharedLauncher().Run(spec, {segment}, MemoryKind::kDevice);
  ASSERT_TRUE(outcome.ok()) << what << ": " << outcome.status();
  const std::vector<std::string> faults =
      FaultsOf(spec, operands, RunOracle(spec, operands), outcome->segments.front());
  EXPECT_TRUE(faults.empty()) << what << "\n" << Lines(faults);
  CountPoints(1);
}

void RunWidth(int64_t width, int64_t rows, DataType dtype, NormKind kind) {
  Random random(static_cast<uint64_t>(width));
  Operands in;
  in.rows = rows;
  in.eps = 1e-5F;
  in.x = PlainValues(dtype, rows * width, -1, 3, random);
  in.dy = PlainValues(dtype, rows * width, -1, 1, random);
  in.weight = PlainValues(DataType::kFloat32, width, 0, 2, random);
  const std::string what = std::to_string(width) + " " + Name(dtype);
  NormSpec forward = ForwardSpec(kind, width, dtype);
  forward.has_weight = true;
  ExpectRight(forward, in, what + " forward");
  ExpectRight(BackwardSpec(kind, width, dtype), in, what + " backward");
}

TEST(ConformanceEdge, MillionColumns) {
  const int64_t width = Options().reduced ? 70001 : (1 << 20) + 1;
  for (const NormKind kind : {NormKind::kLayerNorm, NormKind::kRmsNorm}) {
    RunWidth(width, 2, DataType::kFloat32, kind);
    RunWidth(width, 1, DataType::kBFloat16, kind);
  }
}

TEST(ConformanceEdge, MillionsOfColumns) {
  const int64_t width = Options().reduced ? 131072 : kMaxWidth / 8;
  RunWidth(width, 1, DataType::kFloat16, NormKind::kLayerNorm);
}

// As wide as a row may be: +-2 in turn, so that y is known without the oracle.
TEST(ConformanceEdge, WidestRow) {
  NormSpec spec = ForwardSpec(NormKind::kRmsNorm, kMaxWidth, DataType::kFloat16);
  PlacedSegment segment;
  segment.operands.rows = 1;
  for (int64_t i = 0; i < kMaxWidth; ++i) segment.operands.x.push_back(i % 2 == 0 ? 2 : -2);
  const auto outcome = SharedLauncher().Run(spec, {segment}, MemoryKind::kDevice);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(outcome->segments[0].faults.empty()) << Lines(outcome->segments[0].faults);
  const SlotBytes& y = outcome->segments[0].outputs[IndexOf(Slot::kY)];
  ASSERT_EQ(y.size(), kMaxWidth);
  int64_t wrong = 0;
  for (int64_t i = 0; i < kMaxWidth; ++i) wrong += y.at(i) != (i % 2 == 0 ? 1 : -1);
  EXPECT_EQ(wrong, 0);
  spec.width = spec.group = kMaxWidth + 1;
  EXPECT_FALSE(Validate(spec).ok());
}

// The largest finite values: sums, squares and even differences overflow fp32.
TEST(ConformanceEdge, LargestFiniteValues) {
  const double largest = 3.4028234663852886e38;
  for (const int64_t width : {2, 3, 33, 1024, 5121}) {
    Operands in;
    in.rows = 3;
    in.eps = 1e-5F;
    for (int64_t i = 0; i < in.rows * width; ++i) {
      const bool negative = i / width == 0 ? i % 2 == 1 : i % width == 1;
      in.x.push_back(i / width == 2 ? largest : negative ? -largest : largest);
    }
    for (const NormKind kind : {NormKind::kLayerNorm, NormKind::kRmsNorm}) {
      ExpectRight(ForwardSpec(kind, width, DataType::kFloat32), in, std::to_string(width));
    }
  }
}

// eps = 0 and squares below the normal range of fp32: ordinary numbers, as the formula gives.
TEST(ConformanceEdge, TinyRowsWithoutEps) {
  for (const double scale : {1e-16, 1e-18, 1e-20, 1e-25, 1e-30, 1e-36}) {
    for (const int64_t width : {4, 17, 1000}) {
      Random random(static_cast<uint64_t>(width));
      Operands in;
      in.rows = 3;
      for (int64_t i = 0; i < in.rows * width; ++i) {
        in.x.push_back(RoundTo(DataType::kFloat32, scale * random.Uniform(0.5, 4)));
      }
      for (const NormKind kind : {NormKind::kLayerNorm, NormKind::kRmsNorm}) {
        ExpectRight(ForwardSpec(kind, width, DataType::kFloat32), in,
                    std::to_string(width) + " x " + std::to_string(std::log10(scale)));
      }
    }
  }
}

// A mean of up to 1e6 times the spread: what a corrected mean reaches, in both directions.
TEST(ConformanceEdge, FarMeans) {
  for (const double mean : {1e2, 1e4, 1e6}) {
    for (const int64_t width : {4, 16, 97, 256, 1024, 8192}) {
      Random random(static_cast<uint64_t>(width));
      Operands in;
      in.rows = 4;
      in.eps = 1e-5F;
      for (int64_t i = 0; i < in.rows * width; ++i) {
        in.x.push_back(RoundTo(DataType::kFloat32, mean + random.Uniform(-2, 2)));
      }
      in.dy = PlainValues(DataType::kFloat32, in.rows * width, -1, 1, random);
      in.weight.assign(static_cast<size_t>(width), 1.0);
      const std::string what = std::to_string(width) + " at " + std::to_string(mean);
      ExpectRight(ForwardSpec(NormKind::kLayerNorm, width, DataType::kFloat32), in, what);
      ExpectRight(BackwardSpec(NormKind::kLayerNorm, width, DataType::kFloat32), in, what);
    }
  }
}

}  // namespace
}  // namespace normd
