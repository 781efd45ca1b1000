#include "server/execution/staging_arena.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/batching/retry.h"
#include "tests/server/fake_backend.h"

namespace normd {
namespace {

constexpr int64_t kUnit = StagingArena::kAlignment;

class StagingArenaTest : public testing::Test {
 protected:
  static std::unique_ptr<StagingArena> Make(Backend& backend, int64_t units) {
    return *StagingArena::Create(backend, units * kUnit);
  }

  FakeBackend backend_;
  std::unique_ptr<StagingArena> arena_ = Make(backend_, 16);
};

TEST_F(StagingArenaTest, NeedsRoomForABlock) {
  EXPECT_EQ(StagingArena::Create(backend_, kUnit - 1).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(StagingArenaTest, BlocksAreAlignedAndApart) {
  const auto a = arena_->Allocate(1);
  const auto b = arena_->Allocate(kUnit + 1);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a->data()) % 256, 0U);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b->data()) % 256, 0U);
  EXPECT_EQ(a->bytes(), kUnit);
  EXPECT_EQ(b->bytes(), 2 * kUnit);
  EXPECT_TRUE(a->data() + a->bytes() <= b->data() || b->data() + b->bytes() <= a->data());
  EXPECT_EQ(arena_->used_bytes(), 3 * kUnit);
}

TEST_F(StagingArenaTest, ARequestLargerThanTheArenaIsNotWorthARetry) {
  const auto block = arena_->Allocate(16 * kUnit + 1);
  EXPECT_EQ(block.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(RetryDelayOf(block.status()).has_value());
  EXPECT_EQ(arena_->used_bytes(), 0);
}

TEST_F(StagingArenaTest, ExhaustedIsWorthARetry) {
  {
    const auto all = arena_->Allocate(16 * kUnit);
    ASSERT_TRUE(all.ok());
    const auto more = arena_->Allocate(1);
    EXPECT_EQ(more.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_TRUE(RetryDelayOf(more.status()).has_value());
  }
  EXPECT_EQ(arena_->used_bytes(), 0);
  EXPECT_TRUE(arena_->Allocate(16 * kUnit).ok());
}

TEST_F(StagingArenaTest, HolesGrowTogetherInAnyOrder) {
  std::vector<int> order = {0, 1, 2, 3};
  do {
    std::vector<StagingBlock> blocks;
    for (int i = 0; i < 4; ++i) blocks.push_back(*arena_->Allocate(4 * kUnit));
    for (const int i : order) blocks[static_cast<size_t>(i)] = StagingBlock();
    blocks.clear();
    EXPECT_TRUE(arena_->Allocate(16 * kUnit).ok());
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(StagingArenaTest, TakesTheSmallestHoleThatFits) {
  auto a = arena_->Allocate(4 * kUnit);
  const auto b = arena_->Allocate(kUnit);
  auto c = arena_->Allocate(2 * kUnit);
  const auto d = arena_->Allocate(kUnit);
  ASSERT_TRUE(a.ok() && b.ok() && c.ok() && d.ok());
  const std::byte* hole = c->data();
  *a = StagingBlock();
  *c = StagingBlock();
  const auto fit = arena_->Allocate(2 * kUnit);
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit->data(), hole);
}

// Blocks that come and go on many threads never share a byte.
TEST_F(StagingArenaTest, ThreadsDoNotShareBytes) {
  const auto arena = Make(backend_, 256);
  const auto churn = [&](unsigned char mark) {
    std::mt19937 random(mark);
    for (int round = 0; round < 2000; ++round) {
      const auto block = arena->Allocate(1 + static_cast<int64_t>(random() % (20 * kUnit)));
      if (!block.ok()) continue;
      const auto bytes = static_cast<size_t>(block->bytes());
      std::memset(block->data(), mark, bytes);
      for (size_t i = 0; i < bytes; i += 64) {
        ASSERT_EQ(block->data()[i], std::byte{mark});
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned char mark = 1; mark <= 4; ++mark) threads.emplace_back(churn, mark);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(arena->used_bytes(), 0);
  EXPECT_TRUE(arena->Allocate(256 * kUnit).ok());
}

TEST_F(StagingArenaTest, EndsAfterItsLastBlock) {
  StagingBlock block = *arena_->Allocate(1);
  std::thread holder([held = std::move(block)]() mutable { held = StagingBlock(); });
  arena_ = nullptr;  // waits for the block, wherever the holder is
  holder.join();
}

}  // namespace
}  // namespace normd
