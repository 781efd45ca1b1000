// The element-wise part of backward, the same for rows in registers and for streamed ones.
#ifndef NORMD_KERNELS_CUDA_KERNEL_GRADIENT_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_GRADIENT_CUH_

#include "kernels/cuda/kernel/gate.cuh"
#include "kernels/cuda/kernel/moments.cuh"

namespace normd::cuda {

// What a row needs besides its moments: the means over the group of g * h and, for LayerNorm, g.
struct GradientMeans {
  float gh;
  float g;
};

// dt without the gradient that arrives at residual_out, and without the scale of the row. The scale
// comes last: what it multiplies may be 0 where the true rstd is beyond fp32.
template <typename Norm>
__device__ float InputGradient(float g, float h, const GradientMeans& means, const Moments& m) {
  // In this order: g - means.g is exact where the two are close, as in a group of one column.
  const float centered = Norm::kCentered ? g - means.g : g;
  return __fmaf_rn(-h, means.gh, centered) * m.rstd;
}

template <int kColumns>
__device__ void ApplyScale(const Moments& m, float (&gradient)[kColumns]) {
  if (m.scale == 1.0f) return;
#pragma unroll
  for (int i = 0; i < kColumns; ++i) gradient[i] *= m.scale;
}

// du: the gradient that arrives at u = h * w + b.
template <typename Gate>
__device__ float AffineGradient(float dy, const Activation& a) {
  if constexpr (Gate::kAfterNorm) return dy * a.value;
  return dy;
}

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_GRADIENT_CUH_
