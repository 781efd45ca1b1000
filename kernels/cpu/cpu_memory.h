// Host memory of the CPU backend: aligned to 256 bytes, on huge pages when it is large.
#ifndef NORMD_KERNELS_CPU_CPU_MEMORY_H_
#define NORMD_KERNELS_CPU_CPU_MEMORY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kernels/backend.h"

namespace normd {

// A block from this size on is mapped by itself and asks for huge pages.
inline constexpr int64_t kHugeBlockBytes = int64_t{4} << 20;

// Zero bytes give an empty Memory. `prefault`: touch every page now. INVALID_ARGUMENT for a
// negative size, RESOURCE_EXHAUSTED when it is more than the machine has or the system refuses.
absl::StatusOr<Memory> AllocateCpuMemory(int64_t bytes, bool prefault);

// Physical memory of the machine.
int64_t PhysicalMemoryBytes();

}  // namespace normd

#endif  // NORMD_KERNELS_CPU_CPU_MEMORY_H_
