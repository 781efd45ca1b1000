// The flags of the axes: --op, --direction, --dtype, --width and so on, lists separated by commas.
#ifndef NORMD_TESTS_BENCH_KERNEL_AXIS_FLAGS_H_
#define NORMD_TESTS_BENCH_KERNEL_AXIS_FLAGS_H_

#include "absl/status/statusor.h"
#include "tests/bench/kernel/point.h"

namespace normd {

// The axes that the command line gives. INVALID_ARGUMENT names the flag, the wrong value and those
// there are. Call after absl::ParseCommandLine.
absl::StatusOr<Axes> AxesFromFlags();

}  // namespace normd

#endif  // NORMD_TESTS_BENCH_KERNEL_AXIS_FLAGS_H_
