// The named lists of points: --preset.
#ifndef NORMD_TESTS_BENCH_KERNEL_PRESETS_H_
#define NORMD_TESTS_BENCH_KERNEL_PRESETS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tests/bench/kernel/point.h"

namespace normd {

// NOT_FOUND with the names there are, when there is no such preset.
absl::StatusOr<std::vector<Point>> Preset(absl::string_view name);

// Each name with a line that says what it measures.
std::string PresetHelp();

std::vector<std::string> PresetNames();

}  // namespace normd

#endif  // NORMD_TESTS_BENCH_KERNEL_PRESETS_H_
