// Stream and Event of the CUDA backend. Life and threads: kernels/backend.h.
#ifndef NORMD_KERNELS_CUDA_CUDA_STREAM_H_
#define NORMD_KERNELS_CUDA_CUDA_STREAM_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/backend.h"
#include "kernels/cuda/cuda_memory.h"

namespace normd::cuda {

class CudaEvent final : public Event {
 public:
  static absl::StatusOr<std::unique_ptr<CudaEvent>> Make(int ordinal, bool timed);
  ~CudaEvent() override;

  absl::StatusOr<bool> Query() override;
  absl::Status Synchronize() override;

  // REQUIRES: both timed, recorded and complete
  static absl::StatusOr<absl::Duration> Elapsed(const CudaEvent& start, const CudaEvent& end);

  cudaEvent_t get() const { return event_; }

 private:
  explicit CudaEvent(int ordinal) : ordinal_(ordinal) {}

  const int ordinal_;
  cudaEvent_t event_ = nullptr;
};

class CudaStream final : public Stream {
 public:
  // `pool` must outlive the stream.
  static absl::StatusOr<std::unique_ptr<CudaStream>> Make(int ordinal, cudaMemPool_t pool);
  ~CudaStream() override;

  absl::Status Copy(void* destination, const void* source, int64_t bytes) override;
  absl::Status Fill(void* destination, std::byte value, int64_t bytes) override;
  absl::Status Record(Event& event) override;
  absl::Status Wait(Event& event) override;
  absl::Status Synchronize() override;

  cudaStream_t get() const { return stream_; }
  Scratch& scratch() { return *scratch_; }

 private:
  explicit CudaStream(int ordinal) : ordinal_(ordinal) {}

  const int ordinal_;
  cudaStream_t stream_ = nullptr;
  std::optional<Scratch> scratch_;
};

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_CUDA_STREAM_H_
