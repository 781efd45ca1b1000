// Report: measurements as JSON lines, or as a table for people.
//
// A line has the fields that the peers' lines have ("peer", "op", "rows", "width", "dtype", "ms",
// "copy_ms", "share") and those that tell our points apart; README.md lists them.
#ifndef NORMD_TESTS_BENCH_KERNEL_REPORT_H_
#define NORMD_TESTS_BENCH_KERNEL_REPORT_H_

#include <string>

#include "absl/status/status.h"
#include "kernels/backend.h"
#include "tests/bench/kernel/measure.h"

namespace normd {

enum class Format { kJson, kTable };

// Each returns one line (the heading: the device, and for a table the columns' names), without the
// newline at the end.
std::string Heading(Format format, const DeviceInfo& device);
std::string Line(Format format, const Measurement& measurement);
std::string FailedLine(Format format, const Point& point, const absl::Status& status);

}  // namespace normd

#endif  // NORMD_TESTS_BENCH_KERNEL_REPORT_H_
