// ShardedCells: a row of 64-bit counters that many threads add to without sharing a cache line.
//
// Each thread adds to the shard it was dealt, with one relaxed add; a reader sums the shards. A sum
// read while others add is some value between the one before and the one after; once they have
// stopped it is exact.
#ifndef NORMD_SERVER_TELEMETRY_SHARDED_CELLS_H_
#define NORMD_SERVER_TELEMETRY_SHARDED_CELLS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace normd {

class ShardedCells {
 public:
  explicit ShardedCells(size_t cells);

  void Add(size_t cell, int64_t delta) {
    Shard()[cell].fetch_add(delta, std::memory_order_relaxed);
  }

  // Adds to two cells of the same shard.
  void Add(size_t cell, int64_t delta, size_t other_cell, int64_t other_delta) {
    std::atomic<int64_t>* const shard = Shard();
    shard[cell].fetch_add(delta, std::memory_order_relaxed);
    shard[other_cell].fetch_add(other_delta, std::memory_order_relaxed);
  }

  int64_t Read(size_t cell) const;
  size_t size() const { return cells_; }

 private:
  // Few threads observe (request threads and a device's); 8 shards keep them apart.
  static constexpr size_t kShards = 8;

  struct alignas(64) Line {
    std::atomic<int64_t> values[8] = {};
  };

  // Dealt in turn to threads when they first add.
  static size_t ThreadShard();

  std::atomic<int64_t>* Shard() { return lines_[ThreadShard() * lines_per_shard_].values; }

  size_t cells_;
  size_t lines_per_shard_;
  std::unique_ptr<Line[]> lines_;
};

}  // namespace normd

#endif  // NORMD_SERVER_TELEMETRY_SHARDED_CELLS_H_
