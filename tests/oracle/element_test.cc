#include "tests/oracle/element.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace normd {
namespace {

TEST(Element, EveryHalfPatternComesBack) {
  for (const DataType type : {DataType::kFloat16, DataType::kBFloat16}) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const double value = Decode(type, bits);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(Decode(type, Encode(type, value))));
      } else {
        ASSERT_EQ(Encode(type, value), bits) << Name(type);
      }
    }
  }
}

TEST(Element, EveryHalfMidpointGoesToTheEvenNeighbour) {
  for (const DataType type : {DataType::kFloat16, DataType::kBFloat16}) {
    const uint32_t infinity = type == DataType::kFloat16 ? 0x7C00 : 0x7F80;
    for (uint32_t bits = 0; bits + 1 < infinity; ++bits) {
      const double low = Decode(type, bits);
      const double high = Decode(type, bits + 1);
      const double middle = low + (high - low) / 2;
      ASSERT_EQ(Encode(type, middle), bits % 2 == 0 ? bits : bits + 1) << Name(type);
      ASSERT_EQ(Encode(type, std::nextafter(middle, low)), bits);
      ASSERT_EQ(Encode(type, std::nextafter(middle, high)), bits + 1);
    }
  }
}

TEST(Element, LargestFiniteAndOverflow) {
  EXPECT_EQ(RoundTo(DataType::kFloat16, 65519.99), 65504);
  EXPECT_EQ(RoundTo(DataType::kFloat16, 65520), std::numeric_limits<double>::infinity());
  EXPECT_EQ(RoundTo(DataType::kFloat16, -1e300), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(RoundTo(DataType::kBFloat16, 3.4e38), std::numeric_limits<double>::infinity());
  EXPECT_EQ(RoundTo(DataType::kFloat32, 3.4028235e38), std::numeric_limits<float>::max());
}

TEST(Element, Float32AgreesWithTheProcessor) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100000; ++i) {
    const auto bits = static_cast<uint32_t>(random());
    const float value = std::bit_cast<float>(bits);
    if (std::isnan(value)) continue;
    ASSERT_EQ(Decode(DataType::kFloat32, bits), static_cast<double>(value));
    ASSERT_EQ(Encode(DataType::kFloat32, value), bits);
    const double between = static_cast<double>(value) * (1 + 1e-7 * (i % 7));
    ASSERT_EQ(RoundTo(DataType::kFloat32, between),
              static_cast<double>(static_cast<float>(between)));
  }
}

TEST(Element, NegativeZeroKeepsItsSign) {
  for (const DataType type : {DataType::kFloat32, DataType::kFloat16, DataType::kBFloat16}) {
    EXPECT_TRUE(std::signbit(Decode(type, Encode(type, -0.0))));
    EXPECT_TRUE(std::signbit(RoundTo(type, -1e-300)));
  }
}

TEST(Element, UlpIsTheDistanceToTheNextValue) {
  EXPECT_EQ(UlpOf(DataType::kBFloat16, 1.0), 0x1p-7);
  EXPECT_EQ(UlpOf(DataType::kFloat16, -3.0), 0x1p-9);
  EXPECT_EQ(UlpOf(DataType::kFloat32, 0.0), 0x1p-149);
}

}  // namespace
}  // namespace normd
