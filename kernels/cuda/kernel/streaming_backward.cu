#include "kernels/cuda/kernel/dispatch.cuh"
#include "kernels/cuda/kernel/streaming_backward.cuh"

namespace normd::cuda {

cudaError_t LaunchStreamingSums(const KernelKey& key, const TableLaunch<BackwardSegment>& launch) {
  return DispatchNorm(key.norm, [&]<typename Norm>(Type<Norm>) {
    return DispatchGate(key.gate, [&]<typename Gate>(Type<Gate>) {
      return DispatchTeam(key.block_team, [&]<typename Team>(Type<Team>) {
        return StartKernel(StreamingSumsKernel<Norm, Gate, Team>, launch);
      });
    });
  });
}

cudaError_t LaunchStreamingApply(const KernelKey& key, const TableLaunch<BackwardSegment>& launch) {
  return DispatchNorm(key.norm, [&]<typename Norm>(Type<Norm>) {
    return DispatchGate(key.gate, [&]<typename Gate>(Type<Gate>) {
      return StartKernel(StreamingApplyKernel<Norm, Gate>, launch);
    });
  });
}

}  // namespace normd::cuda
