// Per-target: sums over a group, and what is computed from the group's statistics. Sums run over
// short blocks in fp32, and over blocks in double, so that their error does not grow with width.
#if defined(NORMD_KERNELS_CPU_GROUP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NORMD_KERNELS_CPU_GROUP_INL_H_
#undef NORMD_KERNELS_CPU_GROUP_INL_H_
#else
#define NORMD_KERNELS_CPU_GROUP_INL_H_
#endif

#include <algorithm>

#include "hwy/highway.h"
#include "kernels/cpu/convert-inl.h"
#include "kernels/cpu/group_statistics.h"
#include "kernels/norm_spec.h"

HWY_BEFORE_NAMESPACE();
namespace normd {
namespace HWY_NAMESPACE {

// Additions in a row that one lane makes in fp32.
constexpr int64_t kLaneAdditions = 32;

// sums[k] += the sum of the k-th of the kSums terms that `terms(i, out)` makes of vector i.
template <int kSums, typename Terms>
HWY_INLINE void AddSums(int64_t n, const Terms& terms, double (&sums)[kSums]) {
  const D d;
  const int64_t size = VectorSize();
  for (int64_t begin = 0; begin < n; begin += kLaneAdditions * size) {
    const int64_t end = std::min(n, begin + kLaneAdditions * size);
    V lanes[kSums];
    V term[kSums];
    for (V& lane : lanes) lane = hn::Zero(d);
    int64_t i = begin;
    for (; i + size <= end; i += size) {
      terms(i, term);
      for (int k = 0; k < kSums; ++k) lanes[k] = hn::Add(lanes[k], term[k]);
    }
    if (i < end) {
      const auto inside = hn::FirstN(d, static_cast<size_t>(end - i));
      terms(i, term);
      for (int k = 0; k < kSums; ++k) {
        lanes[k] = hn::Add(lanes[k], hn::IfThenElseZero(inside, term[k]));
      }
    }
    for (int k = 0; k < kSums; ++k) {
      sums[k] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, lanes[k])));
    }
  }
}

// Sum of t - shift.
HWY_INLINE double SumShifted(const float* t, int64_t n, float shift) {
  const D d;
  const V s = hn::Set(d, shift);
  double sums[1] = {};
  AddSums<1>(
      n, [&](int64_t i, V* term) HWY_ATTR { term[0] = hn::Sub(hn::LoadU(d, t + i), s); }, sums);
  return sums[0];
}

// Adds the sums of t - shift and of its square.
HWY_INLINE void AddMoments(const float* t, int64_t n, float shift, double (&sums)[2]) {
  const D d;
  const V s = hn::Set(d, shift);
  AddSums<2>(
      n,
      [&](int64_t i, V* term) HWY_ATTR {
        term[0] = hn::Sub(hn::LoadU(d, t + i), s);
        term[1] = hn::Mul(term[0], term[0]);
      },
      sums);
}

// Sum of t^2.
HWY_INLINE double SumSquares(const float* t, int64_t n) {
  const D d;
  double sums[1] = {};
  AddSums<1>(
      n,
      [&](int64_t i, V* term) HWY_ATTR {
        const V v = hn::LoadU(d, t + i);
        term[0] = hn::Mul(v, v);
      },
      sums);
  return sums[0];
}

// Statistics of groups that lie one after the other. Step by step for all of them, not group by
// group: the steps of one group wait for each other, those of its neighbours do not.
HWY_INLINE void TakeStatistics(NormKind kind, const float* t, int64_t groups, int64_t size,
                               float eps, GroupStatistics* statistics) {
  const double inverse_size = 1 / static_cast<double>(size);
  if (kind == NormKind::kRmsNorm) {
    for (int64_t i = 0; i < groups; ++i) {
      statistics[i] = FinishStatistics(0, 0, SumSquares(t + i * size, size) * inverse_size, eps);
    }
    return;
  }
  for (int64_t i = 0; i < groups; ++i) {
    const float first = t[i * size];
    statistics[i].shift = ShiftedMean(first, SumShifted(t + i * size, size, first) * inverse_size);
  }
  for (int64_t i = 0; i < groups; ++i) {
    double sums[2] = {};
    const float shift = statistics[i].shift;
    AddMoments(t + i * size, size, shift, sums);
    statistics[i] = FinishStatistics(shift, sums[0] * inverse_size, sums[1] * inverse_size, eps);
  }
}

// Adds the sums of g * h and of g.
HWY_INLINE void AddGradientSums(const float* g, const float* h, int64_t n, double (&sums)[2]) {
  const D d;
  AddSums<2>(
      n,
      [&](int64_t i, V* term) HWY_ATTR {
        term[1] = hn::LoadU(d, g + i);
        term[0] = hn::Mul(term[1], hn::LoadU(d, h + i));
      },
      sums);
}

// h of consecutive elements of one group. The last vector runs over the end.
HWY_INLINE void Normalize(const float* t, int64_t n, const GroupStatistics& statistics, float* h) {
  const D d;
  const V shift = hn::Set(d, statistics.shift);
  const V correction = hn::Set(d, statistics.correction);
  const V rstd = hn::Set(d, statistics.rstd);
  ForEachVector(n, [&](int64_t i) HWY_ATTR {
    const V deviation = hn::Sub(hn::Sub(hn::LoadU(d, t + i), shift), correction);
    hn::StoreU(hn::Mul(deviation, rstd), d, h + i);
  });
}

// dt of consecutive elements of one group. The last vector runs over the end.
HWY_INLINE void Differentiate(const float* g, const float* h, int64_t n, float rstd,
                              const GroupGradient& gradient, float* dt) {
  const D d;
  const V c1 = hn::Set(d, gradient.c1);
  const V c2 = hn::Set(d, gradient.c2);
  const V scale = hn::Set(d, rstd);
  ForEachVector(n, [&](int64_t i) HWY_ATTR {
    const V centred = hn::Sub(hn::LoadU(d, g + i), c2);
    hn::StoreU(hn::Mul(scale, hn::NegMulAdd(hn::LoadU(d, h + i), c1, centred)), d, dt + i);
  });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace normd
HWY_AFTER_NAMESPACE();

#endif  // NORMD_KERNELS_CPU_GROUP_INL_H_
