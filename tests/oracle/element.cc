#include "tests/oracle/element.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace normd {
namespace {

// IEEE 754 binary interchange format: stored significand bits and the exponent range.
struct Format {
  int fraction_bits;
  int min_exponent;  // of the smallest normal number
  int max_exponent;  // of the largest finite number
};

Format FormatOf(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return {23, -126, 127};
    case DataType::kFloat16:
      return {10, -14, 15};
    case DataType::kBFloat16:
      return {7, -126, 127};
  }
  return {};
}

int TotalBits(DataType type) { return static_cast<int>(8 * SizeOf(type)); }

// ilogb and ldexp(1, exponent) of doubles in the normal range, quick enough for every element of
// every test. Zero and subnormal doubles give -1023, below every format's range.
int ExponentOf(double magnitude) {
  return static_cast<int>(std::bit_cast<uint64_t>(magnitude) >> 52 & 0x7FF) - 1023;
}
double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

// Distance of neighbours at a magnitude.
double Spacing(const Format& format, double magnitude) {
  const int exponent = std::clamp(ExponentOf(magnitude), format.min_exponent, format.max_exponent);
  return PowerOfTwo(exponent - format.fraction_bits);
}

}  // namespace

double RoundTo(DataType type, double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const Format format = FormatOf(type);
  const double spacing = Spacing(format, std::abs(value));
  // rint: ties to even in the default rounding mode; scaling by a power of two is exact.
  const double rounded = std::rint(value / spacing) * spacing;
  if (std::abs(rounded) < PowerOfTwo(format.max_exponent + 1)) return rounded;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

double UlpOf(DataType type, double value) { return Spacing(FormatOf(type), std::abs(value)); }

uint32_t Encode(DataType type, double value) {
  const Format format = FormatOf(type);
  const int bits = TotalBits(type);
  const uint32_t sign = std::signbit(value) ? uint32_t{1} << (bits - 1) : 0;
  const uint32_t exponent_mask = ((uint32_t{1} << (bits - 1)) - 1) >> format.fraction_bits
                                                                          << format.fraction_bits;
  if (std::isnan(value)) return exponent_mask | (uint32_t{1} << (format.fraction_bits - 1));
  const double magnitude = std::abs(RoundTo(type, value));
  if (std::isinf(magnitude)) return sign | exponent_mask;
  const double smallest_normal = PowerOfTwo(format.min_exponent);
  if (magnitude < smallest_normal) {
    return sign | static_cast<uint32_t>(magnitude / Spacing(format, magnitude));
  }
  const int exponent = ExponentOf(magnitude);
  const auto significand = static_cast<uint32_t>(magnitude / Spacing(format, magnitude));
  const uint32_t fraction = significand - (uint32_t{1} << format.fraction_bits);
  const auto biased = static_cast<uint32_t>(exponent - format.min_exponent + 1);
  return sign | (biased << format.fraction_bits) | fraction;
}

double Decode(DataType type, uint32_t bits) {
  const Format format = FormatOf(type);
  const int total = TotalBits(type);
  const bool negative = ((bits >> (total - 1)) & 1) != 0;
  const uint32_t fraction = bits & ((uint32_t{1} << format.fraction_bits) - 1);
  const int biased =
      static_cast<int>((bits & ((uint32_t{1} << (total - 1)) - 1)) >> format.fraction_bits);
  double magnitude = 0;
  if (biased == format.max_exponent - format.min_exponent + 2) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (biased == 0) {
    magnitude = fraction * PowerOfTwo(format.min_exponent - format.fraction_bits);
  } else {
    const uint32_t significand = fraction + (uint32_t{1} << format.fraction_bits);
    magnitude = significand * PowerOfTwo(biased - 1 + format.min_exponent - format.fraction_bits);
  }
  return negative ? -magnitude : magnitude;
}

void StoreElement(DataType type, double value, void* address) {
  const uint32_t bits = Encode(type, value);
  std::memcpy(address, &bits, static_cast<size_t>(SizeOf(type)));
}

double LoadElement(DataType type, const void* address) {
  uint32_t bits = 0;
  std::memcpy(&bits, address, static_cast<size_t>(SizeOf(type)));
  return Decode(type, bits);
}

std::vector<double> RoundedTo(DataType type, std::vector<double> values) {
  for (double& value : values) value = RoundTo(type, value);
  return values;
}

}  // namespace normd
