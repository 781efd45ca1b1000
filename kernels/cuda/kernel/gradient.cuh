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

// dt without the gradient that arrives at residual_out.
template <typename Norm>
__device__ float InputGradient(float g, float h, const GradientMeans& means, float true_rstd) {
  float rest = __fmaf_rn(-h, means.gh, g);
  if constexpr (Norm::kCentered) rest -= means.g;
  return rest * true_rstd;
}

// du: the gradient that arrives at u = h * w + b.
template <typename Gate>
__device__ float AffineGradient(float dy, const Activation& a) {
  if constexpr (Gate::kAfterNorm) return dy * a.value;
  return dy;
}

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_GRADIENT_CUH_
