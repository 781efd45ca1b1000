#include "kernels/cuda/cuda_backend.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/cuda/cuda_memory.h"
#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/cuda_stream.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/op.h"
#include "kernels/cuda/segment_table.h"

namespace normd {
namespace {

class CudaBackend final : public Backend {
 public:
  CudaBackend(int ordinal, DeviceInfo info, cuda::MemoryPool pool)
      : ordinal_(ordinal), info_(std::move(info)), pool_(std::move(pool)) {}

  const DeviceInfo& info() const override { return info_; }

  absl::StatusOr<Memory> Allocate(int64_t bytes, MemoryKind kind) override {
    if (absl::Status status = cuda::UseDevice(ordinal_); !status.ok()) return status;
    return cuda::AllocateMemory(ordinal_, bytes, kind);
  }

  absl::StatusOr<std::unique_ptr<Stream>> NewStream() override {
    return cuda::CudaStream::Make(ordinal_, pool_.get());
  }

  absl::StatusOr<std::unique_ptr<Event>> NewEvent(bool timed) override {
    return cuda::CudaEvent::Make(ordinal_, timed);
  }

  absl::StatusOr<absl::Duration> Elapsed(Event& start, Event& end) override {
    return cuda::CudaEvent::Elapsed(static_cast<cuda::CudaEvent&>(start),
                                    static_cast<cuda::CudaEvent&>(end));
  }

  absl::StatusOr<LaunchInfo> Forward(const NormSpec& spec, absl::Span<const Segment> segments,
                                     Stream& stream) override {
    if (absl::Status status = cuda::UseDevice(ordinal_); !status.ok()) return status;
    return cuda::RunForward(spec, segments, static_cast<cuda::CudaStream&>(stream));
  }

  absl::StatusOr<LaunchInfo> Backward(const NormSpec& spec, absl::Span<const Segment> segments,
                                      Stream& stream) override {
    if (absl::Status status = cuda::UseDevice(ordinal_); !status.ok()) return status;
    return cuda::RunBackward(spec, segments, static_cast<cuda::CudaStream&>(stream));
  }

 private:
  const int ordinal_;
  const DeviceInfo info_;
  cuda::MemoryPool pool_;
};

absl::StatusOr<DeviceInfo> Describe(int ordinal) {
  cudaDeviceProp properties;
  cudaError_t error = cudaGetDeviceProperties(&properties, ordinal);
  if (error != cudaSuccess) return cuda::ToStatus(error, "device properties");
  if (!properties.unifiedAddressing || !properties.canMapHostMemory) {
    return absl::FailedPreconditionError(
        absl::StrCat(properties.name, " does not share addresses with the host"));
  }
  if (cuda::CheckKernelImage() != cudaSuccess) {
    cudaGetLastError();
    return absl::FailedPreconditionError(absl::StrCat("this build has no kernels for ",
                                                      properties.name, ", compute capability ",
                                                      properties.major, ".", properties.minor));
  }
  DeviceInfo info;
  info.name = absl::StrCat("cuda:", ordinal);
  info.model = properties.name;
  info.memory_bytes = static_cast<int64_t>(properties.totalGlobalMem);
  info.max_segments = cuda::kLargeTable;
  return info;
}

}  // namespace

int CudaDeviceCount() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

absl::StatusOr<std::unique_ptr<Backend>> NewCudaBackend(int ordinal) {
  if (ordinal < 0 || ordinal >= CudaDeviceCount()) {
    return absl::NotFoundError(absl::StrCat("there is no CUDA device ", ordinal));
  }
  if (absl::Status status = cuda::UseDevice(ordinal); !status.ok()) return status;
  absl::StatusOr<DeviceInfo> info = Describe(ordinal);
  if (!info.ok()) return info.status();
  absl::StatusOr<cuda::MemoryPool> pool = cuda::MemoryPool::Make(ordinal);
  if (!pool.ok()) return pool.status();
  return std::make_unique<CudaBackend>(ordinal, *std::move(info), *std::move(pool));
}

}  // namespace normd
