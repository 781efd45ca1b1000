// Gates as functors: where a(z) enters forward and backward. kernels/README.md has the formulas.
#ifndef NORMD_KERNELS_CUDA_KERNEL_GATE_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_GATE_CUH_

namespace normd::cuda {

// a(z) and its derivative.
struct Activation {
  float value;
  float slope;
};

// With e = exp(-|z|) both sigmoid(z) and 1 - sigmoid(z) keep their relative accuracy.
__device__ inline Activation Activate(float z, bool silu) {
  const float e = expf(-fabsf(z));
  float r;  // 1 / (1 + e), an argument in [1, 2]; within 1 ulp
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(1.0f + e));
  const float small = e * r;
  const float sigmoid = z >= 0.0f ? r : small;
  const float complement = z >= 0.0f ? small : r;
  if (!silu) return {sigmoid, sigmoid * complement};
  const float value = z * sigmoid;
  return {value, __fmaf_rn(value, complement, sigmoid)};
}

struct NoGate {
  static constexpr bool kBeforeNorm = false;
  static constexpr bool kAfterNorm = false;
};

// y = u * a(z)
struct GateAfterNorm {
  static constexpr bool kBeforeNorm = false;
  static constexpr bool kAfterNorm = true;
};

// t = x * a(z)
struct GateBeforeNorm {
  static constexpr bool kBeforeNorm = true;
  static constexpr bool kAfterNorm = false;
};

template <typename Gate>
inline constexpr bool kHasGate = Gate::kBeforeNorm || Gate::kAfterNorm;

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_GATE_CUH_
