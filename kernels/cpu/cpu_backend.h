// The CPU backend: the whole contract of kernels/README.md on vector units of the host.
#ifndef NORMD_KERNELS_CPU_CPU_BACKEND_H_
#define NORMD_KERNELS_CPU_CPU_BACKEND_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/backend.h"

namespace normd {

struct CpuOptions {
  // Threads that share the rows of one launch, the stream's own included; 1 to 256. 0: one a core
  // that the process may use. The bits of a result do not depend on it.
  int threads = 0;

  // Touch the pages of staging memory when it is allocated, so that no request pays for it. The
  // memory is resident from then on.
  bool prefault_staging = false;
};

// INVALID_ARGUMENT when an option is out of range.
absl::StatusOr<std::unique_ptr<Backend>> NewCpuBackend(const CpuOptions& options);

}  // namespace normd

#endif  // NORMD_KERNELS_CPU_CPU_BACKEND_H_
