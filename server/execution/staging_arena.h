// StagingArena: the host memory that inline operands are read and written in, one allocation of the
// backend, made and touched at start, cut into blocks by best fit.
//
// Thread-safe. Bounded: nothing is allocated later. A block is aligned to 256 bytes and holds
// whatever earlier requests left in it.
#ifndef NORMD_SERVER_EXECUTION_STAGING_ARENA_H_
#define NORMD_SERVER_EXECUTION_STAGING_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/backend.h"
#include "kernels/mutex.h"

namespace normd {

class StagingArena;

// Owns a part of the arena and gives it back when destroyed, on any thread. Its arena outlives it.
class StagingBlock {
 public:
  StagingBlock() = default;
  StagingBlock(StagingBlock&& other) noexcept { *this = std::move(other); }
  StagingBlock& operator=(StagingBlock&& other) noexcept {
    std::swap(arena_, other.arena_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~StagingBlock();

  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }  // what was asked for, rounded up

 private:
  friend class StagingArena;
  StagingBlock(StagingArena* arena, std::byte* data, int64_t bytes)
      : arena_(arena), data_(data), bytes_(bytes) {}

  StagingArena* arena_ = nullptr;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
};

class StagingArena {
 public:
  static constexpr int64_t kAlignment = 256;

  // `bytes` of the backend's staging memory; at least kAlignment. Touches all of it.
  static absl::StatusOr<std::unique_ptr<StagingArena>> Create(Backend& backend, int64_t bytes);

  // Waits until every block is back: gRPC may hold the last ones for a moment longer than the call.
  ~StagingArena();
  StagingArena(const StagingArena&) = delete;
  StagingArena& operator=(const StagingArena&) = delete;

  // RESOURCE_EXHAUSTED: with a retry delay when other requests hold what is missing, without one
  // when the arena is smaller than `bytes`.
  absl::StatusOr<StagingBlock> Allocate(int64_t bytes);

  int64_t capacity_bytes() const { return capacity_; }
  int64_t used_bytes();

 private:
  friend class StagingBlock;
  explicit StagingArena(Memory memory);

  void Release(std::byte* data, int64_t bytes);
  void InsertHole(int64_t offset, int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Memory memory_;
  const int64_t capacity_;

  Mutex mutex_;
  CondVar all_back_;
  int64_t used_ ABSL_GUARDED_BY(mutex_) = 0;
  // The free parts, no two of them adjacent: offset -> bytes, and (bytes, offset).
  std::map<int64_t, int64_t> holes_ ABSL_GUARDED_BY(mutex_);
  std::set<std::pair<int64_t, int64_t>> holes_by_size_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace normd

#endif  // NORMD_SERVER_EXECUTION_STAGING_ARENA_H_
