#include "tests/bench/kernel/device.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kernels/cpu/cpu_backend.h"
#ifdef NORMD_HAVE_CUDA
#include "kernels/cuda/cuda_backend.h"
#endif

namespace normd {
namespace {

constexpr char kCudaPrefix[] = "cuda:";

#ifdef NORMD_HAVE_CUDA
absl::StatusOr<std::unique_ptr<Backend>> OpenCuda(int ordinal) { return NewCudaBackend(ordinal); }
#else
absl::StatusOr<std::unique_ptr<Backend>> OpenCuda(int /*ordinal*/) {
  return absl::UnimplementedError("this build has no CUDA backend");
}
#endif

}  // namespace

absl::StatusOr<std::unique_ptr<Backend>> OpenDevice(const std::string& name, int cpu_threads) {
  if (name == "cpu") {
    CpuOptions options;
    options.threads = cpu_threads;
    return NewCpuBackend(options);
  }
  int ordinal = 0;
  if (absl::StartsWith(name, kCudaPrefix) &&
      absl::SimpleAtoi(name.substr(std::strlen(kCudaPrefix)), &ordinal) && ordinal >= 0) {
    return OpenCuda(ordinal);
  }
  return absl::InvalidArgumentError(absl::StrCat("--device=", name, " is not cpu or cuda:N"));
}

int64_t DefaultMaxBytes(const DeviceInfo& info) {
  if (absl::StartsWith(info.name, kCudaPrefix)) return info.memory_bytes / 10 * 8;
  return std::min(info.memory_bytes / 8, int64_t{512} << 20);
}

}  // namespace normd
