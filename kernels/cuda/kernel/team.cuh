// Teams: the threads that share one group of one row, and the reductions over them. The order of
// a sum depends on the number of threads in the team alone, and every thread gets the same bits.
#ifndef NORMD_KERNELS_CUDA_KERNEL_TEAM_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_TEAM_CUH_

#include "kernels/cuda/kernel_shape.h"

namespace normd::cuda {

inline constexpr unsigned kAllLanes = 0xffffffffu;

struct Add {
  static constexpr float kIdentity = 0.0f;
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Of numbers >= 0; a NaN is ignored.
struct Max {
  static constexpr float kIdentity = 0.0f;
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// Butterfly over groups of `lanes` neighbouring lanes, a power of two.
template <typename Op, int kValues>
__device__ void ReduceLanes(int lanes, float (&values)[kValues]) {
  for (int offset = lanes >> 1; offset > 0; offset >>= 1) {
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
      values[i] = Op()(values[i], __shfl_xor_sync(kAllLanes, values[i], offset));
    }
  }
}

// 1 to 32 lanes of a warp; a warp holds several teams. All lanes of the warp call together.
class WarpTeam {
 public:
  static constexpr bool kWholeBlock = false;

  explicit __device__ WarpTeam(int lanes_log2) : lanes_log2_(lanes_log2) {}

  // Threads of a team, this thread's place in it, and the place of the team in the block.
  __device__ int size() const { return 1 << lanes_log2_; }
  __device__ int rank() const { return static_cast<int>(threadIdx.x) & (size() - 1); }
  __device__ int index() const { return static_cast<int>(threadIdx.x) >> lanes_log2_; }

  template <typename Op, int kValues>
  __device__ void Reduce(float (&values)[kValues]) {
    ReduceLanes<Op>(size(), values);
  }

  // Whether it is so in any thread that calls together with this one.
  __device__ bool Any(bool value) const { return __any_sync(kAllLanes, value); }

 private:
  int lanes_log2_;
};

// All threads of the block, whole warps of them.
class BlockTeam {
 public:
  static constexpr bool kWholeBlock = true;

  explicit __device__ BlockTeam(int) {}

  __device__ int size() const { return static_cast<int>(blockDim.x); }
  __device__ int rank() const { return static_cast<int>(threadIdx.x); }
  __device__ int index() const { return 0; }

  template <typename Op, int kValues>
  __device__ void Reduce(float (&values)[kValues]) {
    static_assert(kValues <= kMaxValues);
    ReduceLanes<Op>(kWarp, values);
    const int warps = size() / kWarp;
    if (warps == 1) return;
    const int lane = rank() % kWarp;
    float(&shared)[kMaxValues][kWarp] = Shared(phase_);
    if (lane == 0) {
#pragma unroll
      for (int i = 0; i < kValues; ++i) shared[i][rank() / kWarp] = values[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
      values[i] = lane < warps ? shared[i][lane] : Op::kIdentity;
    }
    ReduceLanes<Op>(kWarp, values);
    phase_ ^= 1;
  }

  // Asked about reduced values only, which all threads of the block share.
  __device__ bool Any(bool value) const { return value; }

 private:
  static constexpr int kMaxValues = 2;

  // Two sets in turn: a thread can be one reduction ahead of another, not two.
  static __device__ float (&Shared(int phase))[kMaxValues][kWarp] {
    __shared__ float sets[2][kMaxValues][kWarp];
    return sets[phase];
  }

  int phase_ = 0;
};

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_TEAM_CUH_
