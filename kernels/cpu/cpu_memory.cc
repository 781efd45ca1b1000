#include "kernels/cpu/cpu_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace normd {
namespace {

constexpr int64_t kAlignment = 256;
constexpr int64_t kHugePageBytes = int64_t{2} << 20;

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// One write a page; the pages are still zero.
void Touch(void* data, int64_t bytes) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  auto* const first = static_cast<volatile char*>(data);
  for (int64_t offset = 0; offset < bytes; offset += page) first[offset] = 0;
}

// A mapping that starts at a multiple of a huge page; nullptr when the system refuses.
void* MapHuge(int64_t mapped_bytes) {
  const int64_t reserved = mapped_bytes + kHugePageBytes;
  void* const base = mmap(nullptr, static_cast<size_t>(reserved), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(base);
  const int64_t head = RoundUp(reinterpret_cast<intptr_t>(begin), kHugePageBytes) -
                       reinterpret_cast<intptr_t>(begin);
  const int64_t tail = kHugePageBytes - head;
  if (head > 0) munmap(begin, static_cast<size_t>(head));
  if (tail > 0) munmap(begin + head + mapped_bytes, static_cast<size_t>(tail));
  // Advice: without huge pages the memory is slower, not wrong.
  madvise(begin + head, static_cast<size_t>(mapped_bytes), MADV_HUGEPAGE);
  return begin + head;
}

}  // namespace

int64_t PhysicalMemoryBytes() { return sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE); }

absl::StatusOr<Memory> AllocateCpuMemory(int64_t bytes, bool prefault) {
  if (bytes < 0) return absl::InvalidArgumentError("a block has a negative number of bytes");
  if (bytes == 0) return Memory();
  const bool huge = bytes >= kHugeBlockBytes;
  void* data = nullptr;
  if (bytes <= PhysicalMemoryBytes()) {
    data = huge ? MapHuge(RoundUp(bytes, kHugePageBytes))
                : std::aligned_alloc(kAlignment, static_cast<size_t>(RoundUp(bytes, kAlignment)));
  }
  if (data == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("no ", bytes, " bytes of host memory"));
  }
  if (prefault) Touch(data, bytes);
  if (!huge) return Memory(data, bytes, [](void* block, int64_t) { std::free(block); });
  return Memory(data, bytes, [](void* block, int64_t size) {
    munmap(block, static_cast<size_t>(RoundUp(size, kHugePageBytes)));
  });
}

}  // namespace normd
