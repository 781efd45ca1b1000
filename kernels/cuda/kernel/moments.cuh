// Mean and reciprocal standard deviation of a row: LayerNorm and RMSNorm as functors of one
// algorithm, which works for rows in registers and for rows that are read again.
//
// The usual way is the corrected two-pass one: m0, then d = mean of (t - m0) and the mean of
// (t - m0)^2. Rows it cannot be sure of (overflow, underflow, a spread that drowns in the rounding
// of m0) are scaled by a power of two and done again around the corrected mean.
#ifndef NORMD_KERNELS_CUDA_KERNEL_MOMENTS_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_MOMENTS_CUH_

#include <cfloat>

#include "kernels/cuda/kernel/team.cuh"

namespace normd::cuda {

// 1 / a power of two from 2^-126 to 2^126, exactly.
__device__ inline float InversePower(float power) {
  return __uint_as_float((254u << 23) - __float_as_uint(power));
}

// Of the row times `scale`. The true mean is mean / scale, the true rstd is rstd * scale.
struct Moments {
  float mean = 0.0f;
  float rstd = 0.0f;
  float shift = 0.0f;  // -(what rounding took from the mean) * rstd
  float scale = 1.0f;  // a power of two

  __device__ float TrueMean() const { return mean * InversePower(scale); }
  __device__ float TrueRstd() const { return rstd * scale; }
};

struct LayerNorm {
  static constexpr bool kCentered = true;
  static __device__ float Normalize(float t, const Moments& m) {
    return __fmaf_rn(t - m.mean, m.rstd, m.shift);
  }
};

struct RmsNorm {
  static constexpr bool kCentered = false;
  static __device__ float Normalize(float t, const Moments& m) { return t * m.rstd; }
};

// The number of columns that a mean is taken over.
struct GroupSize {
  float size;
  float inverse;  // 1 / size, rounded to nearest

  // sum / size, correctly rounded while nothing overflows; NaN for an infinite sum.
  __device__ float Mean(float sum) const {
    const float quotient = sum * inverse;
    return __fmaf_rn(__fmaf_rn(-quotient, size, sum), inverse, quotient);
  }

  // The same, and infinite for an infinite sum.
  __device__ float MeanOrInfinity(float sum) const { return isinf(sum) ? sum : Mean(sum); }
};

// 1 / sqrt(v) within 1 ulp, for v that InRange.
__device__ inline float ReciprocalRoot(float v) {
  float r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return __fmaf_rn(0.5f * r, __fmaf_rn(-(v * r), r, 1.0f), r);
}

// The same for every v >= 0; infinite for 0, 0 for infinity, NaN for NaN.
__device__ inline float AnyReciprocalRoot(float v) {
  float r;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
  if (v == 0.0f || isinf(v)) return r;
  return __fmaf_rn(0.5f * r, __fmaf_rn(-(v * r), r, 1.0f), r);
}

// Squares near the ends of the fp32 range have lost bits; false for NaN too.
__device__ inline bool InRange(float v) { return v >= 0x1p-90f && v <= FLT_MAX; }

__device__ inline int ExponentOf(float value) {
  return static_cast<int>(__float_as_uint(value) >> 23) - 127;
}

// 2^exponent, as far as it and 1 / it are normal numbers.
__device__ inline float PowerOfTwo(int exponent) {
  return __uint_as_float(static_cast<unsigned>(127 + max(-126, min(126, exponent))) << 23);
}

// The power of two that brings `largest` near 2^40: squares and their sums stay far from the ends
// of the fp32 range, and so does the rstd of a row of huge values without any spread.
__device__ inline float ScaleFor(float largest) {
  return largest == 0.0f ? 1.0f : PowerOfTwo(40 - ExponentOf(largest));
}

// Saved statistics. Rows so large that t - mean may overflow are scaled.
__device__ inline Moments MomentsFromSaved(float mean, float rstd) {
  Moments m;
  if (rstd < 0x1p-60f && rstd > 0.0f) m.scale = PowerOfTwo(ExponentOf(rstd));
  m.mean = mean * m.scale;
  m.rstd = rstd * InversePower(m.scale);
  return m;
}

// Source: kRows rows of which this thread holds a part.
//   void Sum(float (&sum)[kRows])                     of its t
//   void Square(float (&sum)[kRows])                  of t^2
//   void Center(const float (&center)[kRows], float (&sums)[2 * kRows])
//                                                     of t - center, then of (t - center)^2
//   void Largest(float (&largest)[kRows])             of |t|
//   void Pad(const float (&value)[kRows])             columns past the group count as `value`
//   void Scale(const float (&scale)[kRows])           t *= scale

// The moments of a row that was scaled so that its largest element is near 2^40. The variance is 0
// then, or far from where it would underflow; `rest` is what rounding took from the mean.
__device__ inline Moments ScaledMoments(float mean, float rest, float mean_square, float eps,
                                        float scale) {
  float variance = __fmaf_rn(-rest, rest, mean_square);
  if (variance < 0.0f) variance = 0.0f;
  float rstd = AnyReciprocalRoot(variance + (eps * scale) * scale);
  if (variance == 0.0f && eps > 0.0f) {
    // eps alone, which the scale may have taken below the smallest number.
    rstd = fminf(AnyReciprocalRoot(eps) * InversePower(scale), FLT_MAX);
  }
  return {mean, rstd, -rest * rstd, scale};
}

// The careful way, for the rows marked in `doubtful`.
template <typename Norm, int kRows, typename Team, typename Source>
__device__ void ComputeDoubtful(Team& team, Source& source, GroupSize group, float eps,
                                const bool (&doubtful)[kRows], Moments (&moments)[kRows]) {
  const float root_eps = eps > 0.0f ? eps * AnyReciprocalRoot(eps) : 0.0f;
  float value[kRows] = {};
  float scale[kRows];
  source.Pad(value);
  source.Largest(value);
  team.template Reduce<Max>(value);
#pragma unroll
  for (int u = 0; u < kRows; ++u) {
    scale[u] = doubtful[u] ? ScaleFor(fmaxf(value[u], root_eps)) : 1.0f;
  }
  source.Scale(scale);
  float mean[kRows] = {};
  float rest[kRows] = {};
  float sums[2 * kRows] = {};
  if constexpr (Norm::kCentered) {
    source.Sum(value);
    team.template Reduce<Add>(value);
#pragma unroll
    for (int u = 0; u < kRows; ++u) value[u] = group.MeanOrInfinity(value[u]);
    source.Pad(value);
    source.Center(value, sums);
    team.template Reduce<Add>(sums);
#pragma unroll
    for (int u = 0; u < kRows; ++u) {
      const float d = group.MeanOrInfinity(sums[u]);
      mean[u] = value[u] + d;
      rest[u] = (value[u] - mean[u]) + d;
      if (!isfinite(mean[u])) {
        mean[u] = value[u];
        rest[u] = 0.0f;
      }
    }
    source.Pad(mean);
    source.Center(mean, sums);
    team.template Reduce<Add>(sums);
  } else {
    source.Square(value);
    team.template Reduce<Add>(value);
#pragma unroll
    for (int u = 0; u < kRows; ++u) sums[kRows + u] = value[u];
  }
#pragma unroll
  for (int u = 0; u < kRows; ++u) {
    if (!doubtful[u]) continue;
    const float mean_square = group.MeanOrInfinity(sums[kRows + u]);
    moments[u] = ScaledMoments(mean[u], rest[u], mean_square, eps, scale[u]);
  }
}

// REQUIRES: all threads that share a warp or a block call together; rows that are not `active`
// get moments that mean nothing.
template <typename Norm, int kRows, typename Team, typename Source>
__device__ void ComputeMoments(Team& team, Source& source, GroupSize group, float eps,
                               const bool (&active)[kRows], Moments (&moments)[kRows]) {
  bool doubtful[kRows];
  bool any = false;
  float sums[2 * kRows];
  float center[kRows] = {};
  if constexpr (Norm::kCentered) {
    source.Sum(center);
    team.template Reduce<Add>(center);
#pragma unroll
    for (int u = 0; u < kRows; ++u) center[u] = group.Mean(center[u]);
    source.Pad(center);
    source.Center(center, sums);
    team.template Reduce<Add>(sums);
  } else {
    float squares[kRows];
    source.Square(squares);
    team.template Reduce<Add>(squares);
#pragma unroll
    for (int u = 0; u < kRows; ++u) {
      sums[u] = 0.0f;
      sums[kRows + u] = squares[u];
    }
  }
#pragma unroll
  for (int u = 0; u < kRows; ++u) {
    float d = 0.0f;
    float variance = group.Mean(sums[kRows + u]);
    if constexpr (Norm::kCentered) {
      d = group.Mean(sums[u]);
      variance = __fmaf_rn(-d, d, variance);
    }
    const float v = variance + eps;
    doubtful[u] = active[u] && (!InRange(v) || variance < d * d * 0x1p-10f);
    any = any || doubtful[u];
    const float rstd = ReciprocalRoot(v);
    const float mean = center[u] + d;
    const float rest = (center[u] - mean) + d;
    moments[u] = {mean, rstd, -rest * rstd, 1.0f};
  }
  if (team.Any(any)) ComputeDoubtful<Norm>(team, source, group, eps, doubtful, moments);
}

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_MOMENTS_CUH_
