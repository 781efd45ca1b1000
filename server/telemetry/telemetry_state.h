// What Telemetry counts with. Private to telemetry.cc (adds) and telemetry_collect.cc (reads).
#ifndef NORMD_SERVER_TELEMETRY_TELEMETRY_STATE_H_
#define NORMD_SERVER_TELEMETRY_TELEMETRY_STATE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "server/telemetry/histogram.h"
#include "server/telemetry/labels.h"
#include "server/telemetry/metric_families.h"
#include "server/telemetry/name_table.h"
#include "server/telemetry/shape_table.h"
#include "server/telemetry/sharded_cells.h"
#include "server/telemetry/telemetry.h"

namespace normd {

// Launches of one op and direction.
struct BatchHistograms {
  Histogram requests{RequestBounds()};
  Histogram rows{RowBounds()};
};

struct DeviceRecord {
  DeviceInfo info;
  double copy_bytes_per_second = 0;
};

struct Telemetry::State {
  explicit State(const TelemetryOptions& telemetry_options)
      : options(telemetry_options), shapes(telemetry_options.max_shapes) {
    for (const char* reason : kReasonLabels) reasons.Find(reason);
  }

  static size_t RequestCell(size_t op, size_t direction, size_t dtype, size_t code) {
    return ((op * kDirections + direction) * kDataTypes + dtype) * kCodes + code;
  }
  static size_t LaunchCell(size_t op, size_t direction, size_t kernel) {
    return (op * kDirections + direction) * NameTable::kNumbers + kernel;
  }
  static size_t ByteCell(size_t op, size_t direction, size_t dtype) {
    return (op * kDirections + direction) * kDataTypes + dtype;
  }

  void CollectRequests(MetricFamilies& families) const;
  void CollectShapes(MetricFamilies& families) const;
  void CollectStages(MetricFamilies& families) const;
  void CollectLaunches(MetricFamilies& families) const;
  void CollectDevice(MetricFamilies& families) const;
  void CollectServer(MetricFamilies& families) const;

  const TelemetryOptions options;

  ShapeTable shapes;
  NameTable kernels;
  NameTable reasons;

  ShardedCells requests{kOps * kDirections * kDataTypes * kCodes};
  ShardedCells launches{kOps * kDirections * NameTable::kNumbers};
  ShardedCells kernel_bytes{kOps * kDirections * kDataTypes};
  ShardedCells rejected{NameTable::kNumbers};
  ShardedCells cancelled{kStages};
  ShardedCells expired{kStages};
  ShardedCells received_bytes{1};
  ShardedCells sent_bytes{1};
  std::array<Histogram, kStages> stages{Histogram(DurationBounds()), Histogram(DurationBounds()),
                                        Histogram(DurationBounds()), Histogram(DurationBounds())};
  std::array<std::array<BatchHistograms, kDirections>, kOps> batches;

  std::atomic<int64_t> inflight{0};
  std::atomic<int64_t> queue_depth{0};
  std::atomic<int64_t> queue_bytes{0};
  std::atomic<bool> ready{false};
  std::atomic<bool> draining{false};
  std::atomic<bool> device_up{false};

  // Null until SetDevice; what it points to does not change.
  std::atomic<const DeviceRecord*> device{nullptr};
  std::unique_ptr<const DeviceRecord> owned_device;
};

}  // namespace normd

#endif  // NORMD_SERVER_TELEMETRY_TELEMETRY_STATE_H_
