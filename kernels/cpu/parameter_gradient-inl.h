// Per-target: sums over rows, for dweight and dbias: a few rows in fp32, everything above in
// double, in an order that depends on the tile's and the strips' shape alone.
#if defined(NORMD_KERNELS_CPU_PARAMETER_GRADIENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NORMD_KERNELS_CPU_PARAMETER_GRADIENT_INL_H_
#undef NORMD_KERNELS_CPU_PARAMETER_GRADIENT_INL_H_
#else
#define NORMD_KERNELS_CPU_PARAMETER_GRADIENT_INL_H_
#endif

#include <algorithm>

#include "hwy/highway.h"
#include "kernels/cpu/convert-inl.h"
#include "kernels/cpu/work_unit.h"

HWY_BEFORE_NAMESPACE();
namespace normd {
namespace HWY_NAMESPACE {

// Rows that are added in fp32.
constexpr int64_t kSumRows = 32;

// sums[i] += values[i]
HWY_INLINE void AddToDoubles(const float* values, int64_t n, double* sums) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> df;
  const auto size = static_cast<int64_t>(hn::Lanes(dd));
  int64_t i = 0;
  for (; i + size <= n; i += size) {
    const auto value = hn::PromoteTo(dd, hn::LoadU(df, values + i));
    hn::StoreU(hn::Add(hn::LoadU(dd, sums + i), value), dd, sums + i);
  }
  for (; i < n; ++i) sums[i] += static_cast<double>(values[i]);
}

// sums[c] += the sum over the rows of a tile of a * b, or of a where b is null. `plane` is scratch.
HWY_INLINE void AddRowSums(const float* a, const float* b, const Tile& tile, float* plane,
                           double* sums) {
  const D d;
  for (int64_t first = 0; first < tile.rows; first += kSumRows) {
    const int64_t begin = first * tile.columns;
    const int64_t end = std::min(tile.rows, first + kSumRows) * tile.columns;
    ForEachVector(tile.columns, [&](int64_t c) HWY_ATTR {
      V sum = hn::Zero(d);
      for (int64_t i = begin + c; i < end; i += tile.columns) {
        const V v = hn::LoadU(d, a + i);
        sum = b == nullptr ? hn::Add(sum, v) : hn::MulAdd(v, hn::LoadU(d, b + i), sum);
      }
      hn::StoreU(sum, d, plane + c);
    });
    AddToDoubles(plane, tile.columns, sums);
  }
}

// See FinishParameterGradient. `plane` is scratch.
HWY_INLINE void FinishGradientColumns(const PartialSums& partial, int64_t column, int64_t columns,
                                      DataType type, void* gradient, float* plane) {
  for (int64_t step = 1; step < partial.strips; step *= 2) {
    for (int64_t strip = 0; strip + step < partial.strips; strip += 2 * step) {
      double* const to = partial.data + strip * partial.width + column;
      const double* const from = to + step * partial.width;
      for (int64_t c = 0; c < columns; ++c) to[c] += from[c];
    }
  }
  for (int64_t c = 0; c < columns; ++c) {
    plane[c] = partial.strips == 0 ? 0 : static_cast<float>(partial.data[column + c]);
  }
  Store(type, plane, columns, gradient, column);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace normd
HWY_AFTER_NAMESPACE();

#endif  // NORMD_KERNELS_CPU_PARAMETER_GRADIENT_INL_H_
