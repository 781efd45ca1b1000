#include "kernels/cpu/cpu_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace normd {
namespace {

// Pages of a block that are in memory.
int64_t ResidentPages(const Memory& memory) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  std::vector<unsigned char> resident(static_cast<size_t>(memory.bytes() / page));
  EXPECT_EQ(mincore(memory.data(), static_cast<size_t>(memory.bytes()), resident.data()), 0);
  int64_t count = 0;
  for (const unsigned char flags : resident) count += flags & 1;
  return count;
}

TEST(CpuMemoryTest, BlocksOfAllSizesAreAlignedAndWritable) {
  for (const int64_t bytes : {int64_t{1}, int64_t{255}, int64_t{256}, int64_t{4097},
                              kHugeBlockBytes - 1, kHugeBlockBytes, kHugeBlockBytes + 1}) {
    auto memory = AllocateCpuMemory(bytes, /*prefault=*/false);
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_EQ(memory->bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory->data()) % 256, 0u);
    std::memset(memory->data(), 0x5A, static_cast<size_t>(bytes));
  }
}

TEST(CpuMemoryTest, ZeroBytesAreAnEmptyBlock) {
  auto memory = AllocateCpuMemory(0, /*prefault=*/true);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(memory->bytes(), 0);
  EXPECT_EQ(memory->data(), nullptr);
}

TEST(CpuMemoryTest, ImpossibleSizesAreRefused) {
  EXPECT_EQ(AllocateCpuMemory(-1, false).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(AllocateCpuMemory(PhysicalMemoryBytes() + 1, false).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(AllocateCpuMemory(std::numeric_limits<int64_t>::max(), false).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(CpuMemoryTest, PrefaultingMakesAllPagesResident) {
  const int64_t bytes = 2 * kHugeBlockBytes;
  const int64_t pages = bytes / sysconf(_SC_PAGESIZE);
  auto untouched = AllocateCpuMemory(bytes, /*prefault=*/false);
  auto touched = AllocateCpuMemory(bytes, /*prefault=*/true);
  ASSERT_TRUE(untouched.ok() && touched.ok());
  EXPECT_EQ(ResidentPages(*untouched), 0);
  EXPECT_EQ(ResidentPages(*touched), pages);
}

TEST(CpuMemoryTest, AMovedBlockKeepsItsBytes) {
  auto memory = AllocateCpuMemory(kHugeBlockBytes, false);
  ASSERT_TRUE(memory.ok());
  static_cast<char*>(memory->data())[0] = 7;
  Memory moved = std::move(*memory);
  EXPECT_EQ(static_cast<char*>(moved.data())[0], 7);
  EXPECT_EQ(moved.bytes(), kHugeBlockBytes);
  EXPECT_EQ(memory->data(), nullptr);  // NOLINT(bugprone-use-after-move): empty is the contract
}

}  // namespace
}  // namespace normd
