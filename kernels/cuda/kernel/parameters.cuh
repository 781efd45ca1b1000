// Weight and bias of the columns that a thread holds, in fp32.
#ifndef NORMD_KERNELS_CUDA_KERNEL_PARAMETERS_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_PARAMETERS_CUH_

#include "kernels/cuda/kernel/typed_access.cuh"
#include "kernels/cuda/segment_table.h"

namespace normd::cuda {

// The weight with its offset; 1 when there is none. Columns past `count` mean nothing.
template <int kColumns, typename Segment>
__device__ void LoadWeight(const LaunchHeader& header, const Segment& segment, int column,
                           int count, float (&weight)[kColumns]) {
  if (!header.has_weight) {
#pragma unroll
    for (int i = 0; i < kColumns; ++i) weight[i] = 1.0f;
    return;
  }
  LoadRun(segment.weight, header.weight_dtype, column, count, segment.aligned_parameters, weight);
#pragma unroll
  for (int i = 0; i < kColumns; ++i) weight[i] += header.weight_offset;
}

// The bias; 0 when there is none.
template <int kColumns, typename Segment>
__device__ void LoadBias(const LaunchHeader& header, const Segment& segment, int column, int count,
                         float (&bias)[kColumns]) {
  if (!header.has_bias) {
#pragma unroll
    for (int i = 0; i < kColumns; ++i) bias[i] = 0.0f;
    return;
  }
  LoadRun(segment.bias, header.bias_dtype, column, count, segment.aligned_parameters, bias);
}

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_PARAMETERS_CUH_
