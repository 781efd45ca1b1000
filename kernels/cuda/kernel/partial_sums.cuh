// The partial rows of dweight and dbias: one of each for a strip of a segment.
#ifndef NORMD_KERNELS_CUDA_KERNEL_PARTIAL_SUMS_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_PARTIAL_SUMS_CUH_

#include <cstdint>

#include "kernels/cuda/segment_table.h"

namespace normd::cuda {

// Null when it is not wanted.
struct PartialRows {
  float* dweight;
  float* dbias;
};

__device__ inline PartialRows PartialRowsOf(const LaunchHeader& header,
                                            const BackwardSegment& segment, int64_t strip) {
  const int64_t plane = int64_t{segment.strips} * header.width;
  float* row = segment.partials + strip * header.width;
  return {header.want_dweight ? row : nullptr,
          header.want_dbias ? row + (header.want_dweight ? plane : 0) : nullptr};
}

// Adds up what the threads that hold the same columns of different rows have; the result is in
// the thread of row 0. The order depends on the geometry alone.
// REQUIRES: all threads of the block call together; kThreads threads
template <int kThreads, int kColumns>
__device__ void AddRowsOfBlock(const Geometry& geometry, int lanes, int row,
                               float (&dweight)[kColumns], float (&dbias)[kColumns]) {
  __shared__ float shared[2 * kColumns][kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const int row_threads = geometry.groups_per_block * lanes;
  for (int rows = geometry.rows_per_block; rows > 1;) {
    const int half = (rows + 1) / 2;
    if (row >= half && row < rows) {
#pragma unroll
      for (int i = 0; i < kColumns; ++i) {
        shared[i][thread] = dweight[i];
        shared[kColumns + i][thread] = dbias[i];
      }
    }
    __syncthreads();
    if (row + half < rows) {
      const int other = thread + half * row_threads;
#pragma unroll
      for (int i = 0; i < kColumns; ++i) {
        dweight[i] += shared[i][other];
        dbias[i] += shared[kColumns + i][other];
      }
    }
    __syncthreads();
    rows = half;
  }
}

template <int kColumns>
__device__ void StorePartial(const PartialRows& partials, int column, int count,
                             const float (&dweight)[kColumns], const float (&dbias)[kColumns]) {
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    if (i >= count) continue;
    if (partials.dweight != nullptr) partials.dweight[column + i] = dweight[i];
    if (partials.dbias != nullptr) partials.dbias[column + i] = dbias[i];
  }
}

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_PARTIAL_SUMS_CUH_
