// Per-target: the activations a(z) of gates and their slopes, to a few units in the last place for
// every z, subnormal results included.
#if defined(NORMD_KERNELS_CPU_GATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NORMD_KERNELS_CPU_GATE_INL_H_
#undef NORMD_KERNELS_CPU_GATE_INL_H_
#else
#define NORMD_KERNELS_CPU_GATE_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/cpu/convert-inl.h"
#include "kernels/norm_spec.h"

HWY_BEFORE_NAMESPACE();
namespace normd {
namespace HWY_NAMESPACE {

// digits * 2^k as digits * power1 * power2: 2^k alone may be below the smallest normal number.
struct ScaledExp {
  V digits;
  V power1;
  V power2;
};

// exp(x) for x <= 0: x = n ln 2 + r, and Cephes' polynomial (expf.c) for exp(r). Exactly 0 below
// -110, where z * exp(x) is below half of the smallest fp32 for |z| = -x.
HWY_INLINE ScaledExp ExpOfNegative(V x) {
  const D d;
  const DI32 di;
  const V lowest = hn::Set(d, -110.0F);
  const auto vanishes = hn::Lt(x, lowest);
  const V bounded = hn::IfThenElse(vanishes, lowest, x);
  const V n = hn::Round(hn::Mul(bounded, hn::Set(d, 1.44269504088896341F)));
  // ln 2 in two parts, so that n * ln 2 is exact.
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), bounded);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), r);
  V p = hn::Set(d, 1.9875691500e-4F);
  p = hn::MulAdd(p, r, hn::Set(d, 1.3981999507e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 8.3334519073e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 4.1665795894e-2F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.6666665459e-1F));
  p = hn::MulAdd(p, r, hn::Set(d, 5.0000001201e-1F));
  p = hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), hn::Set(d, 1.0F));
  const auto k = hn::ConvertTo(di, n);
  const auto k1 = hn::ShiftRight<1>(k);
  const auto k2 = hn::Sub(k, k1);
  const auto exponent_bias = hn::Set(di, 127);
  return {hn::IfThenZeroElse(vanishes, p),
          hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(k1, exponent_bias))),
          hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(k2, exponent_bias)))};
}

// sigmoid(z) = s * power1 * power2; 1 - sigmoid(z) = rest, without cancellation.
struct ScaledSigmoid {
  V s;
  V power1;
  V power2;
  V rest;
};

HWY_INLINE ScaledSigmoid Sigmoid(V z) {
  const D d;
  const V one = hn::Set(d, 1.0F);
  const ScaledExp exp = ExpOfNegative(hn::Neg(hn::Abs(z)));
  const V e = hn::Mul(hn::Mul(exp.digits, exp.power1), exp.power2);
  const V r = hn::Div(one, hn::Add(one, e));  // sigmoid(|z|)
  const auto negative = hn::Lt(z, hn::Zero(d));
  return {hn::IfThenElse(negative, hn::Mul(exp.digits, r), r),
          hn::IfThenElse(negative, exp.power1, one), hn::IfThenElse(negative, exp.power2, one),
          hn::IfThenElse(negative, r, hn::Mul(e, r))};
}

// a(z) of a plane; a'(z) too, unless `slope` is null.
HWY_INLINE void Activate(GateActivation gate, const float* z, int64_t n, float* value,
                         float* slope) {
  const D d;
  const V one = hn::Set(d, 1.0F);
  const bool silu = gate == GateActivation::kSilu;
  ForEachVector(n, [&](int64_t i) HWY_ATTR {
    const V v = hn::LoadU(d, z + i);
    const ScaledSigmoid sigmoid = Sigmoid(v);
    const auto scale = [&](V x)
                           HWY_ATTR { return hn::Mul(hn::Mul(x, sigmoid.power1), sigmoid.power2); };
    hn::StoreU(scale(silu ? hn::Mul(v, sigmoid.s) : sigmoid.s), d, value + i);
    if (slope == nullptr) return;
    const V factor = silu ? hn::MulAdd(v, sigmoid.rest, one) : sigmoid.rest;
    hn::StoreU(scale(hn::Mul(sigmoid.s, factor)), d, slope + i);
  });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace normd
HWY_AFTER_NAMESPACE();

#endif  // NORMD_KERNELS_CPU_GATE_INL_H_
