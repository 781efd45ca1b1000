#include "server/execution/staging_arena.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/batching/retry.h"

namespace normd {
namespace {

// Blocks live as long as a request and its reply.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(20);

int64_t RoundDown(int64_t bytes) {
  return bytes / StagingArena::kAlignment * StagingArena::kAlignment;
}

}  // namespace

StagingBlock::~StagingBlock() {
  if (arena_ != nullptr) arena_->Release(data_, bytes_);
}

absl::StatusOr<std::unique_ptr<StagingArena>> StagingArena::Create(Backend& backend,
                                                                   int64_t bytes) {
  if (bytes < kAlignment) {
    return absl::InvalidArgumentError(
        absl::StrCat("staging memory of ", bytes, " bytes: at least ", kAlignment, " are needed"));
  }
  absl::StatusOr<Memory> memory = backend.Allocate(RoundDown(bytes), MemoryKind::kStaging);
  if (!memory.ok()) return memory.status();
  // Touched now: the first touch of a page at request time takes microseconds.
  std::fill_n(static_cast<std::byte*>(memory->data()), memory->bytes(), std::byte{0});
  return std::unique_ptr<StagingArena>(new StagingArena(*std::move(memory)));
}

StagingArena::StagingArena(Memory memory)
    : memory_(std::move(memory)), capacity_(RoundDown(memory_.bytes())) {
  MutexLock lock(mutex_);
  InsertHole(0, capacity_);
}

StagingArena::~StagingArena() {
  MutexLock lock(mutex_);
  while (used_ > 0) all_back_.Wait(mutex_);
}

absl::StatusOr<StagingBlock> StagingArena::Allocate(int64_t bytes) {
  if (bytes > capacity_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the request needs ", bytes,
                     " bytes of staging memory for its inline tensors; "
                     "the server has ",
                     capacity_));
  }
  const int64_t rounded = std::max(RoundDown(bytes + kAlignment - 1), kAlignment);
  MutexLock lock(mutex_);
  const auto fit = holes_by_size_.lower_bound({rounded, 0});
  if (fit == holes_by_size_.end()) {
    return RetryLater("the staging memory for inline tensors is in use", kRetryDelay);
  }
  const auto [hole_bytes, offset] = *fit;
  holes_by_size_.erase(fit);
  holes_.erase(offset);
  if (hole_bytes > rounded) InsertHole(offset + rounded, hole_bytes - rounded);
  used_ += rounded;
  return StagingBlock(this, static_cast<std::byte*>(memory_.data()) + offset, rounded);
}

void StagingArena::InsertHole(int64_t offset, int64_t bytes) {
  holes_.emplace(offset, bytes);
  holes_by_size_.emplace(bytes, offset);
}

void StagingArena::Release(std::byte* data, int64_t bytes) {
  int64_t offset = data - static_cast<std::byte*>(memory_.data());
  int64_t hole_bytes = bytes;
  MutexLock lock(mutex_);
  auto next = holes_.lower_bound(offset);
  if (next != holes_.end() && next->first == offset + bytes) {
    hole_bytes += next->second;
    holes_by_size_.erase({next->second, next->first});
    next = holes_.erase(next);
  }
  if (next != holes_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      hole_bytes += previous->second;
      holes_by_size_.erase({previous->second, previous->first});
      holes_.erase(previous);
    }
  }
  InsertHole(offset, hole_bytes);
  used_ -= bytes;
  if (used_ == 0) all_back_.SignalAll();
}

int64_t StagingArena::used_bytes() {
  MutexLock lock(mutex_);
  return used_;
}

}  // namespace normd
