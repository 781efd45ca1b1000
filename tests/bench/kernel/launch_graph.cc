// Launch graphs of the CUDA backend, recorded by capturing its stream.
#include <cuda_runtime_api.h>

#include <memory>
#include <type_traits>

#include "absl/strings/match.h"
#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/cuda_stream.h"
#include "tests/bench/kernel/launch.h"

namespace normd {
namespace {

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};
using Graph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;

class CudaLaunchGraph final : public LaunchGraph {
 public:
  CudaLaunchGraph(cudaGraphExec_t executable, cudaStream_t stream)
      : executable_(executable), stream_(stream) {}
  ~CudaLaunchGraph() override { cudaGraphExecDestroy(executable_); }
  CudaLaunchGraph(const CudaLaunchGraph&) = delete;
  CudaLaunchGraph& operator=(const CudaLaunchGraph&) = delete;

  absl::Status Replay() override {
    return cuda::ToStatus(cudaGraphLaunch(executable_, stream_), "graph launch");
  }

 private:
  cudaGraphExec_t executable_;
  cudaStream_t stream_;
};

}  // namespace

bool HasGraphs(const Backend& backend) { return absl::StartsWith(backend.info().name, "cuda:"); }

absl::StatusOr<std::unique_ptr<LaunchGraph>> RecordGraph(
    Stream& stream, absl::FunctionRef<absl::Status()> enqueue) {
  cudaStream_t const handle = static_cast<cuda::CudaStream&>(stream).get();
  cudaError_t error = cudaStreamBeginCapture(handle, cudaStreamCaptureModeThreadLocal);
  if (error != cudaSuccess) return cuda::ToStatus(error, "begin of a capture");
  const absl::Status enqueued = enqueue();
  // Ended also after an error: the stream must leave the capture.
  cudaGraph_t captured = nullptr;
  error = cudaStreamEndCapture(handle, &captured);
  const Graph graph(captured);
  if (!enqueued.ok()) return enqueued;
  if (error != cudaSuccess) return cuda::ToStatus(error, "end of a capture");
  cudaGraphExec_t executable = nullptr;
  error = cudaGraphInstantiate(&executable, graph.get(), 0);
  if (error != cudaSuccess) return cuda::ToStatus(error, "graph instantiation");
  return std::make_unique<CudaLaunchGraph>(executable, handle);
}

}  // namespace normd
