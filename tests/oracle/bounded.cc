#include "tests/oracle/bounded.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/oracle/element.h"

namespace normd {
namespace {

constexpr double kUnderflow = 0x1p-149;
// exp may flush a subnormal result: the gate is then below anything that y can show.
constexpr double kExpUnderflow = 0x1p-126;

// A value that is NaN or infinite is compared by kind, without a bound.
Bounded Make(double value, double error) {
  if (!std::isfinite(value)) return {value, 0};
  if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
  return {value, error};
}

double SumOf(absl::Span<const Bounded> terms) {
  double sum = 0;
  for (const Bounded& term : terms) sum += term.value;
  return sum;
}

Bounded MeanAbout(absl::Span<const Bounded> terms, double center) {
  const auto n = static_cast<double>(terms.size());
  double magnitude = 0;
  double error = 0;
  for (const Bounded& term : terms) {
    magnitude += std::abs(term.value - center);
    error += term.error;
  }
  const double rounding = magnitude == 0 ? 0 : SumSteps(n) * kStep * magnitude / n + kUnderflow;
  return Make(SumOf(terms) / n, error / n + rounding);
}

// Relative bound of exp(-|z|) and of what is added and divided after it.
double ExpSteps(double z) { return 2 + std::min(std::abs(z), 128.0); }

}  // namespace

double SumSteps(double n) { return n <= 1 ? 0 : 1 + 0.5 * std::log2(n) + std::sqrt(n) / 8; }

Bounded operator+(Bounded a, Bounded b) {
  const double value = a.value + b.value;
  const bool exact = a.exact_zero() || b.exact_zero();
  return Make(value, a.error + b.error + (exact ? 0 : kStep * std::abs(value)));
}

Bounded operator-(Bounded a, Bounded b) { return a + Bounded{-b.value, b.error}; }

Bounded operator*(Bounded a, Bounded b) {
  const double value = a.value * b.value;
  if (a.exact_zero() || b.exact_zero()) return Make(value, 0);
  return Make(value, std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error +
                         kStep * std::abs(value) + kUnderflow);
}

Bounded Mean(absl::Span<const Bounded> terms) { return MeanAbout(terms, 0); }

Bounded CorrectedMean(absl::Span<const Bounded> terms) {
  return MeanAbout(terms, SumOf(terms) / static_cast<double>(terms.size()));
}

Bounded Rsqrt(Bounded a) {
  const double value = 1 / std::sqrt(a.value);
  if (!std::isfinite(value)) return {value, 0};
  const double relative = a.error / a.value;
  const double argument =
      relative < 1 ? 1 / std::sqrt(1 - relative) - 1 : std::numeric_limits<double>::infinity();
  return Make(value, a.value == std::numeric_limits<double>::infinity()
                         ? 0
                         : value * (argument + 2 * kStep));
}

Bounded RoundTo(DataType type, Bounded a) {
  const double value = RoundTo(type, a.value);
  const double above = RoundTo(type, a.value + a.error);
  const double below = RoundTo(type, a.value - a.error);
  return Make(value, std::max(above - value, value - below));
}

Bounded Sigmoid(Bounded z) {
  const double s = 1 / (1 + std::exp(-z.value));
  const double c = 1 / (1 + std::exp(z.value));
  if (std::isinf(z.value)) return {s, 0};
  return Make(s, s * kStep * (3 + c * ExpSteps(z.value)) + kExpUnderflow);
}

Bounded OneMinusSigmoid(Bounded z) {
  const Bounded c = Sigmoid({-z.value, 0});
  // Computed as 1 - s it has the error of s, yet where 1 - s is below the spacing of fp32 at 1, s
  // is 1 and the difference 0.
  return Make(c.value, std::min(c.error + 4 * kStep, c.error + 2 * c.value));
}

bool Accepts(DataType type, double value, double error, double got) {
  if (std::isnan(value)) return std::isnan(got);
  if (std::isnan(got)) return std::isinf(error);
  return RoundTo(type, value - error) <= got && got <= RoundTo(type, value + error);
}

}  // namespace normd
