#include "tests/bench/kernel/report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace normd {
namespace {

// Fields in the order in which they are written.
using Json = nlohmann::ordered_json;

// Rounded to what a measurement can tell.
double Rounded(double value, double digits) { return std::round(value * digits) / digits; }

double Ms(absl::Duration duration) { return Rounded(absl::ToDoubleMilliseconds(duration), 1e6); }

void AddPoint(const Point& point, Json& line) {
  const NormSpec spec = SpecOf(point);
  line["gate"] = Name(point.gate);
  line["group"] = spec.group;
  line["residual"] = point.residual;
  line["statistics"] = point.statistics;
  line["parameters"] = Name(point.parameters);
  line["path"] = Name(point.path);
  line["segments"] = point.segments;
}

std::string JsonLine(const Measurement& m) {
  Json line;
  line["peer"] = "normd";
  line["op"] = OpLabel(m.point, m.timed);
  line["rows"] = m.point.rows;
  line["width"] = m.point.width;
  line["dtype"] = Name(m.point.dtype);
  line["ms"] = Ms(m.time.median);
  line["copy_ms"] = Ms(m.copy);
  line["share"] = Rounded(m.share(), 1e4);
  line["p10_ms"] = Ms(m.time.p10);
  line["p90_ms"] = Ms(m.time.p90);
  line["samples"] = m.time.samples;
  line["bytes"] = m.bytes_moved;
  line["gb_per_s"] = Rounded(m.gb_per_s(), 1e1);
  AddPoint(m.point, line);
  line["sets"] = m.sets;
  line["kernel"] = m.kernel;
  line["launches"] = m.launches;
  line["verified"] = m.verified;
  if (m.host.has_value())
    line["host_us"] = Rounded(absl::ToDoubleMicroseconds(m.host->median), 1e2);
  return line.dump();
}

// What differs from a plain op, in a few words.
std::string Options(const Point& point) {
  std::string text;
  const auto add = [&text](const auto&... parts) {
    absl::StrAppend(&text, text.empty() ? "" : " ", parts...);
  };
  if (point.gate != Gate::kNone) add(Name(point.gate));
  if (point.group != 0) add("group=", point.group);
  if (point.residual) add("residual");
  if (!point.statistics) add("no-statistics");
  if (point.parameters != Parameters::kSame) add("parameters=", Name(point.parameters));
  if (point.path != KernelPath::kAuto) add(Name(point.path));
  if (point.segments != 1) add("segments=", point.segments);
  return text.empty() ? "-" : text;
}

std::string TableLine(const Measurement& m) {
  std::string line = absl::StrFormat(
      "%-30s %9d %7d %-9s %10.2f %10.2f %10.2f %8.1f %6.3f  %-24s %s", OpLabel(m.point, m.timed),
      m.point.rows, m.point.width, Name(m.point.dtype), absl::ToDoubleMicroseconds(m.time.median),
      absl::ToDoubleMicroseconds(m.time.p10), absl::ToDoubleMicroseconds(m.time.p90), m.gb_per_s(),
      m.share(), Options(m.point), m.kernel);
  if (m.host.has_value()) {
    absl::StrAppendFormat(&line, " (host %.2f us)", absl::ToDoubleMicroseconds(m.host->median));
  }
  return line;
}

}  // namespace

std::string Heading(Format format, const DeviceInfo& device) {
  if (format == Format::kJson) {
    Json line;
    line["device"] = device.model;
    line["backend"] = device.name;
    return line.dump();
  }
  return absl::StrFormat("%s (%s)\n%-30s %9s %7s %-9s %10s %10s %10s %8s %6s  %-24s %s",
                         device.model, device.name, "op", "rows", "width", "dtype", "median us",
                         "p10 us", "p90 us", "GB/s", "share", "options", "kernel");
}

std::string Line(Format format, const Measurement& measurement) {
  return format == Format::kJson ? JsonLine(measurement) : TableLine(measurement);
}

std::string FailedLine(Format format, const Point& point, const absl::Status& status) {
  const std::string op = OpLabel(point, point.timing);
  const std::string why = status.ToString();
  if (format == Format::kTable) {
    return absl::StrFormat("%-30s %9d %7d %-9s %s: %s", op, point.rows, point.width,
                           Name(point.dtype), Options(point), why);
  }
  Json line;
  line["failed"] = "normd";
  line["op"] = op;
  line["rows"] = point.rows;
  line["width"] = point.width;
  line["dtype"] = Name(point.dtype);
  AddPoint(point, line);
  line["why"] = why;
  return line.dump();
}

}  // namespace normd
