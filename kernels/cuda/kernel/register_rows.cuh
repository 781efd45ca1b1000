// Rows in registers: the columns that a thread holds, their loads and stores, and the passes of
// moments.cuh over them.
#ifndef NORMD_KERNELS_CUDA_KERNEL_REGISTER_ROWS_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_REGISTER_ROWS_CUH_

#include <cstdint>

#include "kernels/cuda/kernel/element.cuh"
#include "kernels/cuda/segment_table.h"

namespace normd::cuda {

// Vector c of a thread starts at column (c * lanes + lane) * kVector of the group: neighbouring
// lanes hold neighbouring 16 bytes.
template <typename T, int kChunks>
struct Columns {
  int first_column;  // of the group, in the row
  int lane;
  int lanes;
  int group;

  __device__ int InGroup(int chunk) const { return (chunk * lanes + lane) * kVector<T>; }
  __device__ int InRow(int chunk) const { return first_column + InGroup(chunk); }
  // Columns of the vector that the group has.
  __device__ int Count(int chunk) const { return max(0, min(kVector<T>, group - InGroup(chunk))); }
};

// Rows first + u * step for u < kRows. A row is `active` when it exists.
template <int kRows>
struct RowSet {
  int64_t first;
  int64_t step;
  bool active[kRows];

  __device__ int64_t Row(int u) const { return first + u * step; }
};

template <typename T, int kRows, int kChunks>
using PackedRows = Packed<T>[kRows][kChunks];

template <bool kAligned, typename T, int kRows, int kChunks>
__device__ void LoadRowsAs(const Input& input, const RowSet<kRows>& rows,
                           const Columns<T, kChunks>& columns, PackedRows<T, kRows, kChunks>& out) {
#pragma unroll
  for (int u = 0; u < kRows; ++u) {
    const T* row = static_cast<const T*>(input.data) + rows.Row(u) * input.row_stride;
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      Load<T, kAligned>(row + columns.InRow(c), rows.active[u] ? columns.Count(c) : 0, out[u][c]);
    }
  }
}

template <typename T, int kRows, int kChunks>
__device__ void LoadRows(const Input& input, bool aligned, const RowSet<kRows>& rows,
                         const Columns<T, kChunks>& columns, PackedRows<T, kRows, kChunks>& out) {
  if (aligned) {
    LoadRowsAs<true>(input, rows, columns, out);
  } else {
    LoadRowsAs<false>(input, rows, columns, out);
  }
}

// One vector of row u.
template <typename T, int kRows, int kChunks>
__device__ void StoreVector(const Output& output, bool aligned, const RowSet<kRows>& rows, int u,
                            const Columns<T, kChunks>& columns, int chunk,
                            const float (&values)[kVector<T>]) {
  if (!rows.active[u]) return;
  T* row = static_cast<T*>(output.data) + rows.Row(u) * output.row_stride;
  Packed<T> packed;
  Pack(values, packed);
  if (aligned) {
    Store<T, true>(row + columns.InRow(chunk), columns.Count(chunk), packed);
  } else {
    Store<T, false>(row + columns.InRow(chunk), columns.Count(chunk), packed);
  }
}

// A Source of moments.cuh. `rescale(u, scale)` makes t[u] anew, or scales it.
template <typename T, int kRows, int kChunks, typename Rescale>
class RegisterRows {
 public:
  static constexpr int kElements = kChunks * kVector<T>;

  __device__ RegisterRows(float (&t)[kRows][kElements], const Columns<T, kChunks>& columns,
                          bool full, Rescale rescale)
      : t_(t), columns_(columns), full_(full), rescale_(rescale) {}

  __device__ void Sum(float (&sum)[kRows]) {
#pragma unroll
    for (int u = 0; u < kRows; ++u) {
      float part[kParts] = {};
#pragma unroll
      for (int e = 0; e < kElements; ++e) part[e % kParts] += t_[u][e];
      sum[u] = Join(part);
    }
  }

  __device__ void Square(float (&sum)[kRows]) {
#pragma unroll
    for (int u = 0; u < kRows; ++u) {
      float part[kParts] = {};
#pragma unroll
      for (int e = 0; e < kElements; ++e) {
        part[e % kParts] = __fmaf_rn(t_[u][e], t_[u][e], part[e % kParts]);
      }
      sum[u] = Join(part);
    }
  }

  __device__ void Center(const float (&center)[kRows], float (&sums)[2 * kRows]) {
#pragma unroll
    for (int u = 0; u < kRows; ++u) {
      float first[kParts] = {};
      float second[kParts] = {};
#pragma unroll
      for (int e = 0; e < kElements; ++e) {
        const float centered = t_[u][e] - center[u];
        first[e % kParts] += centered;
        second[e % kParts] = __fmaf_rn(centered, centered, second[e % kParts]);
      }
      sums[u] = Join(first);
      sums[kRows + u] = Join(second);
    }
  }

  __device__ void Largest(float (&largest)[kRows]) {
#pragma unroll
    for (int u = 0; u < kRows; ++u) {
      largest[u] = 0.0f;
#pragma unroll
      for (int e = 0; e < kElements; ++e) largest[u] = fmaxf(largest[u], fabsf(t_[u][e]));
    }
  }

  __device__ void Pad(const float (&value)[kRows]) {
    if (full_) return;
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      if (e % kVector<T> < columns_.Count(e / kVector<T>)) continue;
#pragma unroll
      for (int u = 0; u < kRows; ++u) t_[u][e] = value[u];
    }
  }

  __device__ void Scale(const float (&scale)[kRows]) {
#pragma unroll
    for (int u = 0; u < kRows; ++u) rescale_(u, scale[u]);
  }

 private:
  // Chains of additions that run beside each other.
  static constexpr int kParts = 4;

  static __device__ float Join(const float (&part)[kParts]) {
    return (part[0] + part[1]) + (part[2] + part[3]);
  }

  float (&t_)[kRows][kElements];
  const Columns<T, kChunks>& columns_;
  bool full_;
  Rescale rescale_;
};

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_REGISTER_ROWS_CUH_
