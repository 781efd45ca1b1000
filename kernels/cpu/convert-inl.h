// Per-target: moves spans between tensors of any dtype and planes of fp32, and loops over planes.
// A store rounds to nearest even; NaN stays NaN, what is too large for fp16 becomes Inf.
#if defined(NORMD_KERNELS_CPU_CONVERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NORMD_KERNELS_CPU_CONVERT_INL_H_
#undef NORMD_KERNELS_CPU_CONVERT_INL_H_
#else
#define NORMD_KERNELS_CPU_CONVERT_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kernels/data_type.h"
#include "kernels/segment.h"

HWY_BEFORE_NAMESPACE();
namespace normd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using DU32 = hn::RebindToUnsigned<D>;
using DI32 = hn::RebindToSigned<D>;
using DU16 = hn::Rebind<uint16_t, D>;

HWY_INLINE int64_t VectorSize() { return static_cast<int64_t>(hn::Lanes(D())); }

// `f(i)` for every vector of a plane of `n` elements; the last one may run over the end.
template <typename F>
HWY_INLINE void ForEachVector(int64_t n, const F& f) {
  for (int64_t i = 0; i < n; i += VectorSize()) f(i);
}

struct Float32Codec {
  using Raw = float;
  static HWY_INLINE V Load(const Raw* p) { return hn::LoadU(D(), p); }
  static HWY_INLINE void Store(V v, Raw* p) { hn::StoreU(v, D(), p); }
};

HWY_INLINE hn::Vec<DU32> LoadRaw16(const uint16_t* p) {
  return hn::PromoteTo(DU32(), hn::LoadU(DU16(), p));
}

// REQUIRES: every lane is below 2^16
HWY_INLINE void StoreRaw16(hn::Vec<DU32> bits, uint16_t* p) {
  hn::StoreU(hn::DemoteTo(DU16(), hn::BitCast(DI32(), bits)), DU16(), p);
}

struct BFloat16Codec {
  using Raw = uint16_t;
  static HWY_INLINE V Load(const Raw* p) {
    return hn::BitCast(D(), hn::ShiftLeft<16>(LoadRaw16(p)));
  }
  static HWY_INLINE void Store(V v, Raw* p) {
    const DU32 du;
    const auto bits = hn::BitCast(du, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFF))));
    // The sign and the upper digits of the NaN, made quiet.
    const auto nan = hn::Or(hn::ShiftRight<16>(bits), hn::Set(du, 0x40));
    StoreRaw16(hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), nan, rounded), p);
  }
};

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
struct Float16Codec {  // the processor converts
  using Raw = uint16_t;
  using D16 = hn::Rebind<hwy::float16_t, D>;
  static HWY_INLINE V Load(const Raw* p) {
    return hn::PromoteTo(D(), hn::BitCast(D16(), hn::LoadU(DU16(), p)));
  }
  static HWY_INLINE void Store(V v, Raw* p) {
    hn::StoreU(hn::BitCast(DU16(), hn::DemoteTo(D16(), v)), DU16(), p);
  }
};
#else
struct Float16Codec {
  using Raw = uint16_t;
  static HWY_INLINE V Load(const Raw* p) {
    const DU32 du;
    const auto raw = LoadRaw16(p);
    const auto magnitude = hn::ShiftLeft<13>(hn::And(raw, hn::Set(du, 0x7FFF)));
    const auto sign = hn::ShiftLeft<16>(hn::And(raw, hn::Set(du, 0x8000)));
    // Moves the exponent to its place; exact, for subnormal values too.
    const auto scaled =
        hn::BitCast(du, hn::Mul(hn::BitCast(D(), magnitude), hn::Set(D(), 0x1p112F)));
    const auto special = hn::Or(magnitude, hn::Set(du, 0x7F800000));
    const DI32 di;  // compares as the unsigned values do, which are small
    const auto is_special = hn::Gt(hn::BitCast(di, magnitude), hn::Set(di, (0x7C00 << 13) - 1));
    return hn::BitCast(
        D(), hn::Or(sign, hn::IfThenElse(hn::RebindMask(du, is_special), special, scaled)));
  }
  // As in Marat Dukhan's FP16: adding a power of two rounds the sum at the last digit that fp16
  // keeps, to nearest even.
  static HWY_INLINE void Store(V v, Raw* p) {
    const D d;
    const DU32 du;
    const auto bits = hn::BitCast(du, v);
    const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 0x8000));
    const auto exponent = hn::And(bits, hn::Set(du, 0x7F800000));
    const auto floor = hn::Max(exponent, hn::Set(du, 0x38800000));  // 2^-14, the smallest normal
    const auto power = hn::BitCast(d, hn::Add(floor, hn::Set(du, 0x07800000)));
    // 4 |v|, or Inf from 2^16 on.
    const auto base = hn::Mul(hn::Mul(hn::Abs(v), hn::Set(d, 0x1p112F)), hn::Set(d, 0x1p-110F));
    const auto sum = hn::BitCast(du, hn::Add(power, base));
    const auto finite = hn::Add(hn::And(hn::ShiftRight<13>(sum), hn::Set(du, 0x7C00)),
                                hn::And(sum, hn::Set(du, 0x0FFF)));
    const auto magnitude =
        hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), hn::Set(du, 0x7E00), finite);
    StoreRaw16(hn::Or(sign, magnitude), p);
  }
};
#endif

template <typename Codec>
HWY_INLINE void LoadSpan(const typename Codec::Raw* from, int64_t n, float* to) {
  const int64_t size = VectorSize();
  int64_t i = 0;
  for (; i + size <= n; i += size) hn::StoreU(Codec::Load(from + i), D(), to + i);
  if (i == n) return;
  HWY_ALIGN typename Codec::Raw rest[hn::MaxLanes(D())] = {};
  std::memcpy(rest, from + i, static_cast<size_t>(n - i) * sizeof(rest[0]));
  hn::StoreU(Codec::Load(rest), D(), to + i);
}

template <typename Codec>
HWY_INLINE void StoreSpan(const float* from, int64_t n, typename Codec::Raw* to) {
  const int64_t size = VectorSize();
  int64_t i = 0;
  for (; i + size <= n; i += size) Codec::Store(hn::LoadU(D(), from + i), to + i);
  if (i == n) return;
  HWY_ALIGN typename Codec::Raw rest[hn::MaxLanes(D())];
  Codec::Store(hn::LoadU(D(), from + i), rest);
  std::memcpy(to + i, rest, static_cast<size_t>(n - i) * sizeof(rest[0]));
}

template <typename Codec>
HWY_INLINE void RoundSpan(const float* from, int64_t n, float* to) {
  HWY_ALIGN typename Codec::Raw raw[hn::MaxLanes(D())];
  ForEachVector(n, [&](int64_t i) HWY_ATTR {
    Codec::Store(hn::LoadU(D(), from + i), raw);
    hn::StoreU(Codec::Load(raw), D(), to + i);
  });
}

// Calls `f` with the codec of `type`.
template <typename F>
HWY_INLINE void WithCodec(DataType type, const F& f) {
  switch (type) {
    case DataType::kFloat32:
      return f(Float32Codec());
    case DataType::kFloat16:
      return f(Float16Codec());
    case DataType::kBFloat16:
      return f(BFloat16Codec());
  }
}

// Elements [first, first + n) of an array of `type` to a plane.
HWY_INLINE void Load(DataType type, const void* from, int64_t first, int64_t n, float* to) {
  WithCodec(type, [&](auto codec) HWY_ATTR {
    using Codec = decltype(codec);
    LoadSpan<Codec>(static_cast<const typename Codec::Raw*>(from) + first, n, to);
  });
}

// A plane to elements [first, first + n) of an array of `type`.
HWY_INLINE void Store(DataType type, const float* from, int64_t n, void* to, int64_t first) {
  WithCodec(type, [&](auto codec) HWY_ATTR {
    using Codec = decltype(codec);
    StoreSpan<Codec>(from, n, static_cast<typename Codec::Raw*>(to) + first);
  });
}

// A plane to a plane, rounded to `type`. They may be the same.
HWY_INLINE void Round(DataType type, const float* from, int64_t n, float* to) {
  WithCodec(type, [&](auto codec) HWY_ATTR { RoundSpan<decltype(codec)>(from, n, to); });
}

// A part of a segment's matrices.
struct Tile {
  int64_t row = 0;  // of the segment
  int64_t rows = 0;
  int64_t column = 0;
  int64_t columns = 0;
  int64_t elements() const { return rows * columns; }
};

HWY_INLINE void LoadTile(DataType type, const ConstRows& from, const Tile& tile, float* to) {
  const int64_t first = tile.row * from.row_stride + tile.column;
  if (tile.rows == 1 || from.row_stride == tile.columns) {
    return Load(type, from.data, first, tile.elements(), to);
  }
  for (int64_t r = 0; r < tile.rows; ++r) {
    Load(type, from.data, first + r * from.row_stride, tile.columns, to + r * tile.columns);
  }
}

HWY_INLINE void StoreTile(DataType type, const float* from, const Tile& tile,
                          const MutableRows& to) {
  const int64_t first = tile.row * to.row_stride + tile.column;
  if (tile.rows == 1 || to.row_stride == tile.columns) {
    return Store(type, from, tile.elements(), to.data, first);
  }
  for (int64_t r = 0; r < tile.rows; ++r) {
    Store(type, from + r * tile.columns, tile.columns, to.data, first + r * to.row_stride);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace normd
HWY_AFTER_NAMESPACE();

#endif  // NORMD_KERNELS_CPU_CONVERT_INL_H_
