// Opens the device that --device names.
#ifndef NORMD_TESTS_BENCH_KERNEL_DEVICE_H_
#define NORMD_TESTS_BENCH_KERNEL_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kernels/backend.h"

namespace normd {

// "cpu" (with this many threads, 0: one a core) or "cuda:N". INVALID_ARGUMENT for another name,
// UNIMPLEMENTED for a CUDA device in a build without CUDA.
absl::StatusOr<std::unique_ptr<Backend>> OpenDevice(const std::string& name, int cpu_threads);

// What one set of tensors may take when the command line does not say: most of a GPU's memory, a
// little of a host's.
int64_t DefaultMaxBytes(const DeviceInfo& info);

}  // namespace normd

#endif  // NORMD_TESTS_BENCH_KERNEL_DEVICE_H_
