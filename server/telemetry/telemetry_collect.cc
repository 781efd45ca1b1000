#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/telemetry/metric_families.h"
#include "server/telemetry/telemetry.h"
#include "server/telemetry/telemetry_state.h"

namespace normd {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;
constexpr size_t kKnownOps = kOps - 1;
constexpr size_t kKnownDataTypes = kDataTypes - 1;

std::string CodeLabel(size_t code) {
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
}

MetricLabels OpLabels(size_t op, size_t direction) {
  return {{"op", kOpLabels[op]}, {"direction", kDirectionLabels[direction]}};
}

MetricLabels OpLabels(size_t op, size_t direction, size_t dtype) {
  MetricLabels labels = OpLabels(op, direction);
  labels.push_back({"dtype", kDataTypeLabels[dtype]});
  return labels;
}

MetricLabels ShapeLabels(const ShapeMetrics& shape) {
  const bool other = shape.width == ShapeMetrics::kOther;
  MetricLabels labels = OpLabels(shape.op, Index(shape.direction), Index(shape.dtype));
  labels.push_back({"width", other ? "other" : absl::StrCat(shape.width)});
  const uint64_t top = uint64_t{1} << (2 * shape.row_class);
  labels.push_back({"rows", other ? "other" : absl::StrCat(top)});
  return labels;
}

}  // namespace

void Telemetry::State::CollectRequests(MetricFamilies& families) const {
  families.Counter("normd_requests_total", "Requests that ended, by what they were and how");
  for (size_t op = 0; op < kOps; ++op) {
    for (size_t direction = 0; direction < kDirections; ++direction) {
      for (size_t dtype = 0; dtype < kDataTypes; ++dtype) {
        for (size_t code = 0; code < kCodes; ++code) {
          const int64_t count = requests.Read(RequestCell(op, direction, dtype, code));
          // Successes are there from the start, so that the first one shows as a rate.
          const bool from_start = code == 0 && op < kKnownOps && dtype < kKnownDataTypes;
          if (count == 0 && !from_start) continue;
          MetricLabels labels = OpLabels(op, direction, dtype);
          labels.push_back({"code", CodeLabel(code)});
          families.Add(std::move(labels), static_cast<double>(count));
        }
      }
    }
  }
  families.Counter("normd_received_bytes_total", "Bytes of request messages");
  families.Add({{"path", "inline"}}, static_cast<double>(received_bytes.Read(0)));
  families.Counter("normd_sent_bytes_total", "Bytes of reply messages");
  families.Add({{"path", "inline"}}, static_cast<double>(sent_bytes.Read(0)));
}

void Telemetry::State::CollectShapes(MetricFamilies& families) const {
  const std::vector<const ShapeMetrics*> all = shapes.Shapes();
  families.Histogram("normd_request_duration_seconds",
                     "Time from the arrival of a request to its reply, by shape of the request");
  for (const ShapeMetrics* shape : all) {
    families.Add(ShapeLabels(*shape), shape->request_ns, kNanosecondsPerSecond);
  }
  families.Histogram("normd_kernel_duration_seconds",
                     "Time of a launch on the device, by shape of the launch");
  for (const ShapeMetrics* shape : all) {
    families.Add(ShapeLabels(*shape), shape->kernel_ns, kNanosecondsPerSecond);
  }
  families.Gauge("normd_metric_shapes", "Shapes that have series of their own");
  families.Add({}, static_cast<double>(shapes.size()));
  families.Counter("normd_metric_shapes_overflowed_total",
                   "Observations of shapes that came after the cap, counted as other");
  families.Add({}, static_cast<double>(shapes.overflowed()));
}

void Telemetry::State::CollectStages(MetricFamilies& families) const {
  families.Histogram("normd_stage_duration_seconds", "Time of a request in each stage");
  for (size_t stage = 0; stage < kStages; ++stage) {
    families.Add({{"stage", kStageLabels[stage]}}, stages[stage], kNanosecondsPerSecond);
  }
  families.Counter("normd_cancelled_total", "Requests that the caller cancelled, by stage reached");
  for (size_t stage = 0; stage < kStages; ++stage) {
    families.Add({{"stage", kStageLabels[stage]}}, static_cast<double>(cancelled.Read(stage)));
  }
  families.Counter("normd_deadline_exceeded_total",
                   "Requests whose deadline passed, by stage reached");
  for (size_t stage = 0; stage < kStages; ++stage) {
    families.Add({{"stage", kStageLabels[stage]}}, static_cast<double>(expired.Read(stage)));
  }
  families.Counter("normd_rejected_total", "Requests that admission refused");
  for (size_t i = 0; i < NameTable::kNumbers; ++i) {
    const int64_t count = rejected.Read(i);
    if (reasons.Name(i).empty() || (i == NameTable::kMaxNames && count == 0)) continue;
    families.Add({{"reason", reasons.Name(i)}}, static_cast<double>(count));
  }
}

void Telemetry::State::CollectLaunches(MetricFamilies& families) const {
  families.Counter("normd_kernel_launches_total", "Launches on the device, by kernel");
  for (size_t op = 0; op < kKnownOps; ++op) {
    for (size_t direction = 0; direction < kDirections; ++direction) {
      for (size_t kernel = 0; kernel < NameTable::kNumbers; ++kernel) {
        const int64_t count = launches.Read(LaunchCell(op, direction, kernel));
        if (count == 0) continue;
        MetricLabels labels = OpLabels(op, direction);
        labels.push_back({"kernel", kernels.Name(kernel)});
        families.Add(std::move(labels), static_cast<double>(count));
      }
    }
  }
  families.Counter("normd_kernel_bytes_total", "Bytes that the launches had to move");
  for (size_t op = 0; op < kKnownOps; ++op) {
    for (size_t direction = 0; direction < kDirections; ++direction) {
      for (size_t dtype = 0; dtype < kKnownDataTypes; ++dtype) {
        const int64_t bytes = kernel_bytes.Read(ByteCell(op, direction, dtype));
        families.Add(OpLabels(op, direction, dtype), static_cast<double>(bytes));
      }
    }
  }
  families.Histogram("normd_batch_requests", "Requests of a launch");
  for (size_t op = 0; op < kKnownOps; ++op) {
    for (size_t direction = 0; direction < kDirections; ++direction) {
      families.Add(OpLabels(op, direction), batches[op][direction].requests, 1);
    }
  }
  families.Histogram("normd_batch_rows", "Rows of a launch");
  for (size_t op = 0; op < kKnownOps; ++op) {
    for (size_t direction = 0; direction < kDirections; ++direction) {
      families.Add(OpLabels(op, direction), batches[op][direction].rows, 1);
    }
  }
}

void Telemetry::State::CollectDevice(MetricFamilies& families) const {
  const DeviceRecord* const record = device.load(std::memory_order_acquire);
  if (record == nullptr) return;
  const MetricLabels of_device = {{"device", record->info.name}};
  families.Gauge("normd_inflight_requests", "Requests that arrived and have not ended");
  families.Add(of_device, static_cast<double>(inflight.load()));
  families.Gauge("normd_queue_depth", "Requests that wait for the device");
  families.Add(of_device, static_cast<double>(queue_depth.load()));
  families.Gauge("normd_queue_bytes", "Bytes of operands of the requests that wait for the device");
  families.Add(of_device, static_cast<double>(queue_bytes.load()));
  families.Gauge("normd_device_up", "1 while the device works");
  families.Add(of_device, device_up.load() ? 1 : 0);
  families.Gauge("normd_device_memory_bytes", "Memory of the device in total");
  families.Add(of_device, static_cast<double>(record->info.memory_bytes));
  families.Gauge("normd_device_copy_bytes_per_second",
                 "Speed of a copy on the device, bytes read plus written, measured at start");
  families.Add(of_device, record->copy_bytes_per_second);
}

void Telemetry::State::CollectServer(MetricFamilies& families) const {
  families.Gauge("normd_ready", "1 while the server takes requests");
  families.Add({}, ready.load() ? 1 : 0);
  families.Gauge("normd_draining", "1 from the signal to stop on");
  families.Add({}, draining.load() ? 1 : 0);
  families.Gauge("normd_build_info", "1, with what was built as labels");
  families.Add({{"version", options.version}, {"commit", options.commit}}, 1);
}

std::vector<prometheus::MetricFamily> Telemetry::Collect() const {
  MetricFamilies families;
  state_->CollectRequests(families);
  state_->CollectShapes(families);
  state_->CollectStages(families);
  state_->CollectLaunches(families);
  state_->CollectDevice(families);
  state_->CollectServer(families);
  return families.Take();
}

}  // namespace normd
