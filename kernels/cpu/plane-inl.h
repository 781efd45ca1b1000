// Per-target: arithmetic on planes, element by element. A result may be one of its operands.
#if defined(NORMD_KERNELS_CPU_PLANE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NORMD_KERNELS_CPU_PLANE_INL_H_
#undef NORMD_KERNELS_CPU_PLANE_INL_H_
#else
#define NORMD_KERNELS_CPU_PLANE_INL_H_
#endif

#include <cstring>

#include "hwy/highway.h"
#include "kernels/cpu/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace normd {
namespace HWY_NAMESPACE {

HWY_INLINE void AddPlanes(const float* a, const float* b, int64_t n, float* to) {
  const D d;
  ForEachVector(n, [&](int64_t i) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, to + i);
  });
}

HWY_INLINE void MultiplyPlanes(const float* a, const float* b, int64_t n, float* to) {
  const D d;
  ForEachVector(n, [&](int64_t i) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, to + i);
  });
}

// h * weight + bias, either of which may be null.
HWY_INLINE void ApplyAffine(const float* h, const float* weight, const float* bias, int64_t n,
                            float* to) {
  const D d;
  ForEachVector(n, [&](int64_t i) HWY_ATTR {
    V v = hn::LoadU(d, h + i);
    if (weight != nullptr && bias != nullptr) {
      v = hn::MulAdd(v, hn::LoadU(d, weight + i), hn::LoadU(d, bias + i));
    } else if (weight != nullptr) {
      v = hn::Mul(v, hn::LoadU(d, weight + i));
    } else if (bias != nullptr) {
      v = hn::Add(v, hn::LoadU(d, bias + i));
    }
    hn::StoreU(v, d, to + i);
  });
}

// Adds a constant to a plane.
HWY_INLINE void AddConstant(float constant, int64_t n, float* to) {
  const D d;
  const V c = hn::Set(d, constant);
  ForEachVector(
      n, [&](int64_t i) HWY_ATTR { hn::StoreU(hn::Add(hn::LoadU(d, to + i), c), d, to + i); });
}

// Copies the first `columns` elements of a plane so often that they are there `rows` times.
HWY_INLINE void RepeatRow(int64_t rows, int64_t columns, float* plane) {
  for (int64_t r = 1; r < rows; ++r) {
    std::memcpy(plane + r * columns, plane, static_cast<size_t>(columns) * sizeof(float));
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace normd
HWY_AFTER_NAMESPACE();

#endif  // NORMD_KERNELS_CPU_PLANE_INL_H_
