#include "kernels/cuda/cuda_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/cuda_status.h"

namespace normd::cuda {
namespace {

absl::StatusOr<Memory> AllocateDevice(int ordinal, int64_t bytes) {
  void* data = nullptr;
  const cudaError_t error = cudaMalloc(&data, static_cast<size_t>(bytes));
  if (error != cudaSuccess) {
    return ToStatus(error, absl::StrCat("allocating ", bytes, " bytes of device memory"));
  }
  return Memory(data, bytes, [ordinal](void* block, int64_t) {
    if (UseDevice(ordinal).ok()) cudaFree(block);
  });
}

absl::StatusOr<Memory> AllocateStaging(int ordinal, int64_t bytes) {
  void* data = nullptr;
  cudaError_t error =
      cudaHostAlloc(&data, static_cast<size_t>(bytes), cudaHostAllocMapped | cudaHostAllocPortable);
  if (error != cudaSuccess) {
    return ToStatus(error, absl::StrCat("allocating ", bytes, " bytes of pinned host memory"));
  }
  Memory memory(data, bytes, [ordinal](void* block, int64_t) {
    if (UseDevice(ordinal).ok()) cudaFreeHost(block);
  });
  void* on_device = nullptr;
  error = cudaHostGetDevicePointer(&on_device, data, 0);
  if (error != cudaSuccess) return ToStatus(error, "mapping pinned host memory");
  if (on_device != data) {
    return absl::InternalError("pinned host memory has another address on the device");
  }
  return memory;
}

}  // namespace

absl::Status UseDevice(int ordinal) {
  const cudaError_t error = cudaSetDevice(ordinal);
  if (error == cudaSuccess) return absl::OkStatus();
  return ToStatus(error, absl::StrCat("choosing device ", ordinal));
}

absl::StatusOr<Memory> AllocateMemory(int ordinal, int64_t bytes, MemoryKind kind) {
  if (bytes < 0) return absl::InvalidArgumentError("a negative number of bytes");
  bytes = std::max<int64_t>(bytes, 1);
  switch (kind) {
    case MemoryKind::kDevice:
      return AllocateDevice(ordinal, bytes);
    case MemoryKind::kStaging:
      return AllocateStaging(ordinal, bytes);
  }
  return absl::InternalError("unknown kind of memory");
}

absl::StatusOr<MemoryPool> MemoryPool::Make(int ordinal) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = ordinal;
  MemoryPool pool;
  cudaError_t error = cudaMemPoolCreate(&pool.pool_, &properties);
  if (error != cudaSuccess) return ToStatus(error, "creating a memory pool");
  uint64_t threshold = std::numeric_limits<uint64_t>::max();
  error = cudaMemPoolSetAttribute(pool.pool_, cudaMemPoolAttrReleaseThreshold, &threshold);
  if (error != cudaSuccess) return ToStatus(error, "setting up a memory pool");
  return pool;
}

MemoryPool::~MemoryPool() {
  if (pool_ != nullptr) cudaMemPoolDestroy(pool_);
}

Scratch::~Scratch() {
  if (data_ != nullptr) cudaFreeAsync(data_, stream_);
}

absl::StatusOr<std::byte*> Scratch::Reserve(int64_t bytes) {
  if (bytes > bytes_) {
    // Doubling keeps the number of allocations on the way to the high-water mark small.
    const int64_t grown = std::max(bytes, std::min(2 * bytes_, bytes_ + kMaxSpare));
    void* data = nullptr;
    const cudaError_t error =
        cudaMallocFromPoolAsync(&data, static_cast<size_t>(grown), pool_, stream_);
    if (error != cudaSuccess) {
      return ToStatus(error, absl::StrCat("allocating ", grown, " bytes of scratch"));
    }
    if (data_ != nullptr) cudaFreeAsync(data_, stream_);
    data_ = data;
    bytes_ = grown;
  }
  return static_cast<std::byte*>(data_);
}

}  // namespace normd::cuda
