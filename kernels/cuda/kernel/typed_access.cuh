// Runs of columns whose dtype is known at run time only, as fp32: parameters of all kernels, and
// every operand of the streaming family. The branch on the dtype is the same in all threads.
#ifndef NORMD_KERNELS_CUDA_KERNEL_TYPED_ACCESS_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_TYPED_ACCESS_CUH_

#include <cstdint>

#include "kernels/cuda/kernel/element.cuh"
#include "kernels/data_type.h"

namespace normd::cuda {

// kColumns elements of T at `source`, the first `count` of them there.
// REQUIRES: aligned: the address is a multiple of min(16, the run's bytes), count is 0 or kColumns
template <int kColumns, typename T>
__device__ void LoadRun(const T* source, int count, bool aligned, float (&out)[kColumns]) {
  constexpr int kStep = kVector<T> < kColumns ? kVector<T> : kColumns;
  if (aligned && count > 0) {
#pragma unroll
    for (int first = 0; first < kColumns; first += kStep) {
      if constexpr (kStep == kVector<T>) {
        Packed<T> packed;
        float part[kStep];
        Load<T, true>(source + first, kStep, packed);
        Unpack(packed, part);
#pragma unroll
        for (int i = 0; i < kStep; ++i) out[first + i] = part[i];
      } else {  // half a vector: 4 elements of 2 bytes
        const uint2 words = *reinterpret_cast<const uint2*>(source);
        const Packed<T> packed{{words.x, words.y, 0, 0}};
        float part[kVector<T>];
        Unpack(packed, part);
#pragma unroll
        for (int i = 0; i < kColumns; ++i) out[i] = part[i];
      }
    }
    return;
  }
  using Bits = typename Element<T>::Bits;
  const Bits* bits = reinterpret_cast<const Bits*>(source);
#pragma unroll
  for (int i = 0; i < kColumns; ++i) out[i] = i < count ? Element<T>::ToFloat(bits[i]) : 0.0f;
}

template <int kColumns>
__device__ void LoadRun(const void* base, DataType dtype, int64_t index, int count, bool aligned,
                        float (&out)[kColumns]) {
  switch (dtype) {
    case DataType::kFloat32:
      return LoadRun(static_cast<const float*>(base) + index, count, aligned, out);
    case DataType::kFloat16:
      return LoadRun(static_cast<const __half*>(base) + index, count, aligned, out);
    case DataType::kBFloat16:
      return LoadRun(static_cast<const __nv_bfloat16*>(base) + index, count, aligned, out);
  }
}

template <int kColumns, typename T>
__device__ void StoreRun(T* destination, int count, bool aligned, const float (&in)[kColumns]) {
  static_assert(kColumns % kVector<T> == 0);
#pragma unroll
  for (int first = 0; first < kColumns; first += kVector<T>) {
    float part[kVector<T>];
#pragma unroll
    for (int i = 0; i < kVector<T>; ++i) part[i] = in[first + i];
    Packed<T> packed;
    Pack(part, packed);
    if (aligned) {
      Store<T, true>(destination + first, count, packed);
    } else {
      Store<T, false>(destination + first, count - first, packed);
    }
  }
}

template <int kColumns>
__device__ void StoreRun(void* base, DataType dtype, int64_t index, int count, bool aligned,
                         const float (&in)[kColumns]) {
  switch (dtype) {
    case DataType::kFloat32:
      return StoreRun(static_cast<float*>(base) + index, count, aligned, in);
    case DataType::kFloat16:
      return StoreRun(static_cast<__half*>(base) + index, count, aligned, in);
    case DataType::kBFloat16:
      return StoreRun(static_cast<__nv_bfloat16*>(base) + index, count, aligned, in);
  }
}

__device__ inline float RoundTo(DataType dtype, float value) {
  switch (dtype) {
    case DataType::kFloat32:
      return value;
    case DataType::kFloat16:
      return RoundTo<__half>(value);
    case DataType::kBFloat16:
      return RoundTo<__nv_bfloat16>(value);
  }
  return value;
}

// Stores one element.
__device__ inline void StoreElement(void* base, DataType dtype, int64_t index, float value) {
  switch (dtype) {
    case DataType::kFloat32:
      static_cast<float*>(base)[index] = value;
      return;
    case DataType::kFloat16:
      static_cast<__half*>(base)[index] = __float2half_rn(value);
      return;
    case DataType::kBFloat16:
      static_cast<__nv_bfloat16*>(base)[index] = __float2bfloat16_rn(value);
      return;
  }
}

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_TYPED_ACCESS_CUH_
