// Which device the server runs on.
#ifndef NORMD_SERVER_DEVICES_H_
#define NORMD_SERVER_DEVICES_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/backend.h"

namespace normd {

enum class DeviceChoice : uint8_t { kAuto, kCpu, kCuda };

struct DeviceOptions {
  DeviceChoice choice = DeviceChoice::kAuto;
  int cuda_ordinal = 0;  // kCuda
  int cpu_threads = 0;   // CpuOptions::threads
};

// Reads "auto", "cpu" or a number. INVALID_ARGUMENT says what is wrong with anything else; for a
// number also when this build has no CUDA backend.
absl::StatusOr<DeviceOptions> ParseDevices(absl::string_view text);

// Opens the device that the options name, or that kAuto finds: CUDA device 0 when there is one,
// else the CPU. Logs which and why. An error of a device that was asked for, or found, is passed
// on: a GPU machine whose GPU does not work must not turn into a slow CPU server unnoticed.
absl::StatusOr<std::unique_ptr<Backend>> OpenDevice(const DeviceOptions& options);

}  // namespace normd

#endif  // NORMD_SERVER_DEVICES_H_
