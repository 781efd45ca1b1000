#include "server/telemetry/sharded_cells.h"

namespace normd {
namespace {
constexpr size_t kCellsPerLine = 8;
}  // namespace

ShardedCells::ShardedCells(size_t cells)
    : cells_(cells),
      lines_per_shard_((cells + kCellsPerLine - 1) / kCellsPerLine),
      lines_(std::make_unique<Line[]>(lines_per_shard_ * kShards)) {}

int64_t ShardedCells::Read(size_t cell) const {
  int64_t sum = 0;
  for (size_t shard = 0; shard < kShards; ++shard) {
    const Line& line = lines_[shard * lines_per_shard_ + cell / kCellsPerLine];
    sum += line.values[cell % kCellsPerLine].load(std::memory_order_relaxed);
  }
  return sum;
}

size_t ShardedCells::ThreadShard() {
  static std::atomic<size_t> next{0};
  thread_local const size_t shard = next.fetch_add(1, std::memory_order_relaxed) % kShards;
  return shard;
}

}  // namespace normd
