#include "kernels/cuda/kernel/dispatch.cuh"
#include "kernels/cuda/kernel/streaming_forward.cuh"

namespace normd::cuda {

cudaError_t LaunchStreamingForward(const KernelKey& key,
                                   const TableLaunch<ForwardSegment>& launch) {
  return DispatchNorm(key.norm, [&]<typename Norm>(Type<Norm>) {
    return DispatchGate(key.gate, [&]<typename Gate>(Type<Gate>) {
      return DispatchTeam(key.block_team, [&]<typename Team>(Type<Team>) {
        return StartKernel(StreamingForwardKernel<Norm, Gate, Team>, launch);
      });
    });
  });
}

}  // namespace normd::cuda
