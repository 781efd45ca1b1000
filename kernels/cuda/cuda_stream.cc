#include "kernels/cuda/cuda_stream.h"

#include "kernels/cuda/cuda_status.h"

namespace normd::cuda {

absl::StatusOr<std::unique_ptr<CudaEvent>> CudaEvent::Make(int ordinal, bool timed) {
  if (absl::Status status = UseDevice(ordinal); !status.ok()) return status;
  auto event = std::unique_ptr<CudaEvent>(new CudaEvent(ordinal));
  const unsigned flags = timed ? cudaEventDefault : cudaEventDisableTiming;
  const cudaError_t error = cudaEventCreateWithFlags(&event->event_, flags);
  if (error != cudaSuccess) return ToStatus(error, "creating an event");
  return event;
}

CudaEvent::~CudaEvent() {
  if (event_ != nullptr) cudaEventDestroy(event_);
}

absl::StatusOr<bool> CudaEvent::Query() {
  if (absl::Status status = UseDevice(ordinal_); !status.ok()) return status;
  const cudaError_t error = cudaEventQuery(event_);
  if (error == cudaSuccess) return true;
  if (error == cudaErrorNotReady) return false;
  return ToStatus(error, "event");
}

absl::Status CudaEvent::Synchronize() {
  if (absl::Status status = UseDevice(ordinal_); !status.ok()) return status;
  return ToStatus(cudaEventSynchronize(event_), "event");
}

absl::StatusOr<absl::Duration> CudaEvent::Elapsed(const CudaEvent& start, const CudaEvent& end) {
  if (absl::Status status = UseDevice(start.ordinal_); !status.ok()) return status;
  float milliseconds = 0;
  const cudaError_t error = cudaEventElapsedTime(&milliseconds, start.event_, end.event_);
  if (error != cudaSuccess) return ToStatus(error, "time between two events");
  return absl::Milliseconds(static_cast<double>(milliseconds));
}

absl::StatusOr<std::unique_ptr<CudaStream>> CudaStream::Make(int ordinal, cudaMemPool_t pool) {
  if (absl::Status status = UseDevice(ordinal); !status.ok()) return status;
  auto stream = std::unique_ptr<CudaStream>(new CudaStream(ordinal));
  const cudaError_t error = cudaStreamCreateWithFlags(&stream->stream_, cudaStreamNonBlocking);
  if (error != cudaSuccess) return ToStatus(error, "creating a stream");
  stream->scratch_.emplace(pool, stream->stream_);
  return stream;
}

CudaStream::~CudaStream() {
  if (stream_ == nullptr || !UseDevice(ordinal_).ok()) return;
  scratch_.reset();
  cudaStreamSynchronize(stream_);
  cudaStreamDestroy(stream_);
}

absl::Status CudaStream::Copy(void* destination, const void* source, int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  if (absl::Status status = UseDevice(ordinal_); !status.ok()) return status;
  return ToStatus(
      cudaMemcpyAsync(destination, source, static_cast<size_t>(bytes), cudaMemcpyDefault, stream_),
      "copy");
}

absl::Status CudaStream::Fill(void* destination, std::byte value, int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  if (absl::Status status = UseDevice(ordinal_); !status.ok()) return status;
  return ToStatus(cudaMemsetAsync(destination, std::to_integer<int>(value),
                                  static_cast<size_t>(bytes), stream_),
                  "fill");
}

absl::Status CudaStream::Record(Event& event) {
  if (absl::Status status = UseDevice(ordinal_); !status.ok()) return status;
  return ToStatus(cudaEventRecord(static_cast<CudaEvent&>(event).get(), stream_),
                  "recording an event");
}

absl::Status CudaStream::Wait(Event& event) {
  if (absl::Status status = UseDevice(ordinal_); !status.ok()) return status;
  return ToStatus(cudaStreamWaitEvent(stream_, static_cast<CudaEvent&>(event).get(), 0),
                  "waiting for an event");
}

absl::Status CudaStream::Synchronize() {
  if (absl::Status status = UseDevice(ordinal_); !status.ok()) return status;
  return ToStatus(cudaStreamSynchronize(stream_), "stream");
}

}  // namespace normd::cuda
