// normd-kernel-bench: measures the kernels of one backend, point by point.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/bench/kernel/axis_flags.h"
#include "tests/bench/kernel/device.h"
#include "tests/bench/kernel/measure.h"
#include "tests/bench/kernel/presets.h"
#include "tests/bench/kernel/report.h"

ABSL_FLAG(std::string, device, "cpu", "cpu or cuda:N");
ABSL_FLAG(int32_t, cpu_threads, 0, "threads of the CPU backend, 1 to 256; 0: one a core");
ABSL_FLAG(std::vector<std::string>, preset, {},
          "named lists of points, separated by commas (see above); the axes then keep, of those, "
          "the points that match. Without a preset the axes are crossed");
ABSL_FLAG(std::string, format, "json", "json (a line a measurement) or table (microseconds)");
ABSL_FLAG(bool, verify, true, "hold each point against the oracle before the clock runs");
ABSL_FLAG(int64_t, max_bytes, 0,
          "bytes of memory that a point may take; rows are scaled down to it. 0: four fifths of a "
          "GPU's memory, at most 512 MiB on the CPU");
ABSL_FLAG(double, warm_up_ms, 15, "milliseconds of launches before the first sample");
ABSL_FLAG(double, measure_ms, 60,
          "milliseconds of launches that are measured, at 10 samples or more");
ABSL_FLAG(double, budget_s, 0, "seconds after which no further point is begun; 0: no limit");

namespace normd {
namespace {

enum ExitCode { kOk = 0, kPointFailed = 1, kUsage = 2 };

std::string Usage() {
  return absl::StrCat(
      "Measures kernels and prints one line each: median, 10th and 90th percentile of a launch, "
      "GB/s of the bytes that the op must move, and the share of a device copy's speed measured "
      "beside it (1 is the speed of a copy).\n\nPresets:\n",
      PresetHelp(),
      "\nExample: normd-kernel-bench --device=cuda:0 --op=rms_norm --width=128,4096 "
      "--rows=65536 --format=table\n"
      "Exit codes: 0 all measured, 1 a point failed, 2 wrong usage or no such device.");
}

absl::StatusOr<std::vector<Point>> PointsFromFlags() {
  absl::StatusOr<Axes> axes = AxesFromFlags();
  if (!axes.ok()) return axes.status();
  const std::vector<std::string> presets = absl::GetFlag(FLAGS_preset);
  std::vector<Point> points;
  if (presets.empty()) points = Cross({}, *axes);
  for (const std::string& name : presets) {
    absl::StatusOr<std::vector<Point>> preset = Preset(name);
    if (!preset.ok()) return preset.status();
    const std::vector<Point> kept = Keep(*preset, *axes);
    points.insert(points.end(), kept.begin(), kept.end());
  }
  if (points.empty()) return absl::InvalidArgumentError("the axes leave no valid point");
  return points;
}

absl::StatusOr<Format> FormatFromFlag() {
  const std::string format = absl::GetFlag(FLAGS_format);
  if (format == "json") return Format::kJson;
  if (format == "table") return Format::kTable;
  return absl::InvalidArgumentError(absl::StrCat("--format=", format, " is not json or table"));
}

void Print(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

// False when a point failed.
bool MeasureAll(Measurer& measurer, const std::vector<Point>& points, Format format) {
  const absl::Time start = absl::Now();
  const double budget_s = absl::GetFlag(FLAGS_budget_s);
  bool ok = true;
  for (const Point& point : points) {
    if (budget_s > 0 && absl::Now() - start > absl::Seconds(budget_s)) {
      Print(FailedLine(format, point, absl::DeadlineExceededError("the time budget is spent")));
      continue;
    }
    absl::StatusOr<Measurement> measurement = measurer.Measure(point);
    if (!measurement.ok()) {
      ok = false;
      Print(FailedLine(format, point, measurement.status()));
      continue;
    }
    Print(Line(format, *measurement));
  }
  return ok;
}

absl::StatusOr<bool> Run() {
  absl::StatusOr<std::vector<Point>> points = PointsFromFlags();
  if (!points.ok()) return points.status();
  absl::StatusOr<Format> format = FormatFromFlag();
  if (!format.ok()) return format.status();
  absl::StatusOr<std::unique_ptr<Backend>> backend =
      OpenDevice(absl::GetFlag(FLAGS_device), absl::GetFlag(FLAGS_cpu_threads));
  if (!backend.ok()) return backend.status();
  MeasureOptions options;
  options.max_bytes = absl::GetFlag(FLAGS_max_bytes);
  options.verify = absl::GetFlag(FLAGS_verify);
  options.clock.warm_up = absl::Milliseconds(absl::GetFlag(FLAGS_warm_up_ms));
  options.clock.measure = absl::Milliseconds(absl::GetFlag(FLAGS_measure_ms));
  absl::StatusOr<Measurer> measurer = Measurer::Make(**backend, options);
  if (!measurer.ok()) return measurer.status();
  Print(Heading(*format, (*backend)->info()));
  return MeasureAll(*measurer, *points, *format);
}

}  // namespace
}  // namespace normd

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(normd::Usage());
  absl::ParseCommandLine(argc, argv);
  const absl::StatusOr<bool> ok = normd::Run();
  if (!ok.ok()) {
    std::fprintf(stderr, "normd-kernel-bench: %s\n", ok.status().ToString().c_str());
    return normd::kUsage;
  }
  return *ok ? normd::kOk : normd::kPointFailed;
}
