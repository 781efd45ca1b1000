// Owners of CUDA memory: blocks for callers of the backend, the pool that scratch comes from, and
// the scratch of one stream.
//
// REQUIRES for every call and destructor: the owner's device is the current one of the thread.
// The current device belongs to the thread: UseDevice sets it, at every entry of the backend.
#ifndef NORMD_KERNELS_CUDA_CUDA_MEMORY_H_
#define NORMD_KERNELS_CUDA_CUDA_MEMORY_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/backend.h"

namespace normd::cuda {

absl::Status UseDevice(int ordinal);

// Waits for the device. RESOURCE_EXHAUSTED when the memory is not there; INTERNAL when staging
// memory has another address on the device than on the host.
absl::StatusOr<Memory> AllocateMemory(int ordinal, int64_t bytes, MemoryKind kind);

// A stream-ordered pool that keeps what is freed. Thread-safe.
class MemoryPool {
 public:
  static absl::StatusOr<MemoryPool> Make(int ordinal);

  MemoryPool() = default;
  MemoryPool(MemoryPool&& other) noexcept { *this = std::move(other); }
  MemoryPool& operator=(MemoryPool&& other) noexcept {
    std::swap(pool_, other.pool_);
    return *this;
  }
  ~MemoryPool();

  cudaMemPool_t get() const { return pool_; }

 private:
  cudaMemPool_t pool_ = nullptr;
};

// Scratch of one stream. It grows to the most that was ever asked for, in stream order, so that
// work in flight keeps what it uses and the steady state allocates nothing.
class Scratch {
 public:
  // `pool` and `stream` must outlive it.
  Scratch(cudaMemPool_t pool, cudaStream_t stream) : pool_(pool), stream_(stream) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  // At least `bytes`, aligned to 256, for work enqueued from now on; what it held is lost.
  absl::StatusOr<std::byte*> Reserve(int64_t bytes);

 private:
  // Most that is allocated beyond what was asked for.
  static constexpr int64_t kMaxSpare = int64_t{64} << 20;

  cudaMemPool_t pool_;
  cudaStream_t stream_;
  void* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_CUDA_MEMORY_H_
