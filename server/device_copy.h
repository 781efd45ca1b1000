// The speed of a copy on a device: the ceiling that kernels are measured against.
#ifndef NORMD_SERVER_DEVICE_COPY_H_
#define NORMD_SERVER_DEVICE_COPY_H_

#include "absl/status/statusor.h"
#include "kernels/backend.h"

namespace normd {

// Bytes read plus bytes written a second, of the fastest of a few copies of 64 MiB of device
// memory. Waits; a fraction of a second. Not while other work is on the device.
absl::StatusOr<double> MeasureDeviceCopy(Backend& backend);

}  // namespace normd

#endif  // NORMD_SERVER_DEVICE_COPY_H_
