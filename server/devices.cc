#include "server/devices.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kernels/cpu/cpu_backend.h"
#include "server/telemetry/log.h"
#ifdef NORMD_HAVE_CUDA
#include "kernels/cuda/cuda_backend.h"
#endif

namespace normd {
namespace {

#ifdef NORMD_HAVE_CUDA
constexpr bool kBuiltWithCuda = true;
int CudaDevices() { return CudaDeviceCount(); }
absl::StatusOr<std::unique_ptr<Backend>> OpenCuda(int ordinal) { return NewCudaBackend(ordinal); }
#else
constexpr bool kBuiltWithCuda = false;
int CudaDevices() { return 0; }
absl::StatusOr<std::unique_ptr<Backend>> OpenCuda(int /*ordinal*/) {
  return absl::UnimplementedError("this build has no CUDA backend");
}
#endif

absl::StatusOr<std::unique_ptr<Backend>> Opened(absl::StatusOr<std::unique_ptr<Backend>> backend,
                                                absl::string_view why) {
  if (!backend.ok()) return backend;
  const DeviceInfo& info = (*backend)->info();
  Log(LogLevel::kInfo, "device",
      {{"name", info.name},
       {"model", info.model},
       {"memory_bytes", info.memory_bytes},
       {"why", std::string(why)}});
  return backend;
}

}  // namespace

absl::StatusOr<DeviceOptions> ParseDevices(absl::string_view text) {
  DeviceOptions options;
  if (text == "auto") return options;
  if (text == "cpu") {
    options.choice = DeviceChoice::kCpu;
    return options;
  }
  if (text.find(',') != absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "': several devices are not supported yet; name one"));
  }
  if (!absl::SimpleAtoi(text, &options.cuda_ordinal) || options.cuda_ordinal < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not auto, cpu or the number of a CUDA device"));
  }
  if (!kBuiltWithCuda) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "': this build has no CUDA backend; use cpu or auto"));
  }
  options.choice = DeviceChoice::kCuda;
  return options;
}

absl::StatusOr<std::unique_ptr<Backend>> OpenDevice(const DeviceOptions& options) {
  switch (options.choice) {
    case DeviceChoice::kCuda:
      return Opened(OpenCuda(options.cuda_ordinal), "asked for");
    case DeviceChoice::kCpu:
      return Opened(NewCpuBackend({.threads = options.cpu_threads}), "asked for");
    case DeviceChoice::kAuto:
      break;
  }
  if (CudaDevices() > 0) return Opened(OpenCuda(0), "the first CUDA device");
  return Opened(NewCpuBackend({.threads = options.cpu_threads}),
                kBuiltWithCuda ? "no CUDA device was found" : "this build has no CUDA backend");
}

}  // namespace normd
