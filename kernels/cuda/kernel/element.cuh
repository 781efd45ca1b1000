// Elements and 16-byte vectors of them: conversion to and from fp32, loads and stores.
//
// A vector always covers the same columns and goes to the same thread; only the width of the
// memory accesses depends on alignment. So the bits of a result do not depend on where it lies.
#ifndef NORMD_KERNELS_CUDA_KERNEL_ELEMENT_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_ELEMENT_CUH_

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/data_type.h"

namespace normd::cuda {

template <typename T>
struct Element;

template <>
struct Element<float> {
  using Bits = uint32_t;
  static __device__ float ToFloat(Bits bits) { return __uint_as_float(bits); }
  static __device__ Bits FromFloat(float value) { return __float_as_uint(value); }
};

template <>
struct Element<__half> {
  using Bits = uint16_t;
  static __device__ float ToFloat(Bits bits) { return __half2float(__ushort_as_half(bits)); }
  static __device__ Bits FromFloat(float value) { return __half_as_ushort(__float2half_rn(value)); }
};

template <>
struct Element<__nv_bfloat16> {
  using Bits = uint16_t;
  static __device__ float ToFloat(Bits bits) {
    return __uint_as_float(static_cast<uint32_t>(bits) << 16);
  }
  static __device__ Bits FromFloat(float value) {
    return __bfloat16_as_ushort(__float2bfloat16_rn(value));
  }
};

// `value` as it would be read back after a store as T.
template <typename T>
__device__ float RoundTo(float value) {
  return Element<T>::ToFloat(Element<T>::FromFloat(value));
}

// Elements of T in 16 bytes.
template <typename T>
inline constexpr int kVector = 16 / sizeof(T);

// 16 bytes of a row, as they came from memory.
template <typename T>
struct Packed {
  uint32_t words[4];
};

// Makes the compiler forget what it derived from a vector: deriving it again is cheaper than the
// registers that would keep it.
template <typename T>
__device__ void Forget(Packed<T>& packed) {
#pragma unroll
  for (int i = 0; i < 4; ++i) asm volatile("" : "+r"(packed.words[i]));
}

__device__ inline void Unpack(const Packed<float>& packed, float (&out)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) out[i] = __uint_as_float(packed.words[i]);
}

__device__ inline void Unpack(const Packed<__half>& packed, float (&out)[8]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __half2_raw raw{static_cast<unsigned short>(packed.words[i] & 0xffffu),
                          static_cast<unsigned short>(packed.words[i] >> 16)};
    const float2 pair = __half22float2(__half2(raw));
    out[2 * i] = pair.x;
    out[2 * i + 1] = pair.y;
  }
}

__device__ inline void Unpack(const Packed<__nv_bfloat16>& packed, float (&out)[8]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out[2 * i] = __uint_as_float(packed.words[i] << 16);
    out[2 * i + 1] = __uint_as_float(packed.words[i] & 0xffff0000u);
  }
}

__device__ inline void Pack(const float (&in)[4], Packed<float>& packed) {
#pragma unroll
  for (int i = 0; i < 4; ++i) packed.words[i] = __float_as_uint(in[i]);
}

__device__ inline void Pack(const float (&in)[8], Packed<__half>& packed) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __half2_raw raw = __floats2half2_rn(in[2 * i], in[2 * i + 1]);
    packed.words[i] = raw.x | static_cast<uint32_t>(raw.y) << 16;
  }
}

__device__ inline void Pack(const float (&in)[8], Packed<__nv_bfloat16>& packed) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __nv_bfloat162_raw raw = __floats2bfloat162_rn(in[2 * i], in[2 * i + 1]);
    packed.words[i] = raw.x | static_cast<uint32_t>(raw.y) << 16;
  }
}

// Loads the first `count` elements at `source`; the others are zero.
// REQUIRES: kAligned: the address is a multiple of 16, count is 0 or the whole vector
template <typename T, bool kAligned>
__device__ void Load(const T* source, int count, Packed<T>& out) {
  if constexpr (kAligned) {
    uint4 words = {};
    if (count > 0) words = *reinterpret_cast<const uint4*>(source);
    out = {{words.x, words.y, words.z, words.w}};
  } else {
    using Bits = typename Element<T>::Bits;
    const Bits* bits = reinterpret_cast<const Bits*>(source);
    constexpr int kPerWord = 4 / sizeof(T);
    out = {};
#pragma unroll
    for (int i = 0; i < kVector<T>; ++i) {
      const uint32_t word = i < count ? bits[i] : 0;
      out.words[i / kPerWord] |= word << (16 * (i % kPerWord));
    }
  }
}

// Stores the first `count` elements.
// REQUIRES: as Load
template <typename T, bool kAligned>
__device__ void Store(T* destination, int count, const Packed<T>& packed) {
  if constexpr (kAligned) {
    if (count > 0) {
      *reinterpret_cast<uint4*>(destination) =
          uint4{packed.words[0], packed.words[1], packed.words[2], packed.words[3]};
    }
  } else {
    using Bits = typename Element<T>::Bits;
    Bits* bits = reinterpret_cast<Bits*>(destination);
    constexpr int kPerWord = 4 / sizeof(T);
#pragma unroll
    for (int i = 0; i < kVector<T>; ++i) {
      if (i < count) {
        bits[i] = static_cast<Bits>(packed.words[i / kPerWord] >> (16 * (i % kPerWord)));
      }
    }
  }
}

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_ELEMENT_CUH_
