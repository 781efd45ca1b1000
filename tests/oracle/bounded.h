// Bounded: a float64 value with a bound on how far a right fp32 computation may be from it. The
// oracle is written in it, so that each result carries a tolerance that was derived and not chosen.
//
// Derivation. Running error analysis: an operation hands on the bounds of its operands, weighted by
// its derivatives, and adds one rounding of its own.
//   step      2^-23: one operation in fp32, faithfully rounded (twice the unit roundoff 2^-24, so
//             that hardware approximations of one ulp and fused or unfused forms pass alike).
//             Adding an exact zero and multiplying by an exact zero add nothing.
//   underflow 2^-149 for a product or a mean: the smallest subnormal. Subnormals are kept, not
//   flushed. sum       n terms in blocks, eight or more lanes wide: about sqrt(n) terms a block and
//   sqrt(n)
//             blocks, so 2 sqrt(n) / 8 additions one after another, half a step each, and log2(n)
//             to join lanes: SumSteps(n) = 1 + log2(n)/2 + sqrt(n)/8 steps, relative to the sum of
//             magnitudes. One accumulator from end to end breaks it on wide rows.
//   mean      the corrected mean m0 + d of kernels/README.md: relative to the mean DEVIATION, not
//   to
//             the mean. A mean that is only rounded to fp32 breaks it when the row is far from
//             zero; so does mean-of-squares minus square-of-mean. Equal elements: exact.
//   rsqrt     half the relative bound of its argument and two steps.
//   exp       exp(z) = 2^(z log2 e): the rounded product costs |z| steps, the power two.
//   output    the backend rounds a number inside value +- error once to the output's dtype, so the
//             result lies between the rounded ends (Accepts). No half-ulp slack is added: rounding
//             is monotone.
// Fixed beyond that: NaN meets NaN, an infinity meets the same infinity.
#ifndef NORMD_TESTS_ORACLE_BOUNDED_H_
#define NORMD_TESTS_ORACLE_BOUNDED_H_

#include "absl/types/span.h"
#include "kernels/data_type.h"

namespace normd {

struct Bounded {
  double value = 0;
  double error = 0;  // >= 0; infinite: nothing can be said

  // An exact number: an input as it lies in memory.
  static Bounded Exact(double value) { return {value, 0}; }
  bool exact_zero() const { return value == 0 && error == 0; }
};

Bounded operator+(Bounded a, Bounded b);
Bounded operator-(Bounded a, Bounded b);
Bounded operator*(Bounded a, Bounded b);

Bounded Mean(absl::Span<const Bounded> terms);
// The mean with the bound of the corrected algorithm.
Bounded CorrectedMean(absl::Span<const Bounded> terms);
// 1 / sqrt(a)
Bounded Rsqrt(Bounded a);
// Rounded to the type; wider where the rounding may go either way.
Bounded RoundTo(DataType type, Bounded a);

// sigmoid(z), 1 - sigmoid(z). REQUIRES: z is exact.
Bounded Sigmoid(Bounded z);
Bounded OneMinusSigmoid(Bounded z);

// Allowed error of a sum of n terms, in steps of their summed magnitude.
double SumSteps(double n);

// One rounding of an fp32 operation, relative.
inline constexpr double kStep = 0x1p-23;

// Whether a backend may answer `got` for a result of this type.
bool Accepts(DataType type, double value, double error, double got);

}  // namespace normd

#endif  // NORMD_TESTS_ORACLE_BOUNDED_H_
