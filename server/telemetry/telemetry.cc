#include "server/telemetry/telemetry.h"

#include <algorithm>

#include "server/telemetry/telemetry_state.h"

namespace normd {
namespace {

void ObserveStage(Histogram& histogram, absl::Duration duration) {
  if (duration > absl::ZeroDuration()) histogram.Observe(absl::ToInt64Nanoseconds(duration));
}

}  // namespace

Telemetry::Telemetry(const TelemetryOptions& options) : state_(std::make_unique<State>(options)) {}

Telemetry::~Telemetry() = default;

void Telemetry::RequestStarted() { state_->inflight.fetch_add(1, std::memory_order_relaxed); }

void Telemetry::RequestFinished(const RequestRecord& record) {
  State& state = *state_;
  const NormSpec& spec = record.spec;
  const size_t op = record.spec_known ? OpIndex(spec) : kOps - 1;
  const size_t dtype = record.spec_known ? Index(spec.dtype) : kDataTypes - 1;
  const size_t code = std::min(static_cast<size_t>(record.code), kCodes - 1);
  state.inflight.fetch_sub(1, std::memory_order_relaxed);
  state.requests.Add(State::RequestCell(op, Index(spec.direction), dtype, code), 1);
  if (record.spec_known) {
    const int64_t total_ns = absl::ToInt64Nanoseconds(record.total);
    state.shapes.Find(spec, record.rows).request_ns.Observe(total_ns);
  }
  ObserveStage(state.stages[Index(Stage::kDecode)], record.decode);
  ObserveStage(state.stages[Index(Stage::kQueue)], record.queue);
  ObserveStage(state.stages[Index(Stage::kKernel)], record.kernel);
  ObserveStage(state.stages[Index(Stage::kEncode)], record.encode);
  if (record.code == absl::StatusCode::kCancelled) {
    state.cancelled.Add(Index(record.ended_in), 1);
  } else if (record.code == absl::StatusCode::kDeadlineExceeded) {
    state.expired.Add(Index(record.ended_in), 1);
  }
  state.received_bytes.Add(0, record.received_bytes);
  state.sent_bytes.Add(0, record.sent_bytes);
}

void Telemetry::Launched(const NormSpec& spec, const char* kernel, int64_t rows, int64_t requests,
                         absl::Duration kernel_time) {
  State& state = *state_;
  const size_t op = OpIndex(spec);
  const size_t direction = Index(spec.direction);
  state.launches.Add(State::LaunchCell(op, direction, state.kernels.Find(kernel)), 1);
  // Parameters are read once a request, rows once.
  const int64_t bytes = BytesMoved(spec, rows) + (requests - 1) * BytesMoved(spec, 0);
  state.kernel_bytes.Add(State::ByteCell(op, direction, Index(spec.dtype)), bytes);
  state.shapes.Find(spec, rows).kernel_ns.Observe(absl::ToInt64Nanoseconds(kernel_time));
  state.batches[op][direction].requests.Observe(requests);
  state.batches[op][direction].rows.Observe(rows);
}

void Telemetry::Rejected(const char* reason) {
  state_->rejected.Add(state_->reasons.Find(reason), 1);
}

void Telemetry::Queued(int delta_requests, int64_t delta_bytes) {
  state_->queue_depth.fetch_add(delta_requests, std::memory_order_relaxed);
  state_->queue_bytes.fetch_add(delta_bytes, std::memory_order_relaxed);
}

void Telemetry::SetDevice(const DeviceInfo& info, double copy_bytes_per_second) {
  state_->owned_device = std::make_unique<DeviceRecord>(DeviceRecord{info, copy_bytes_per_second});
  state_->device_up.store(true);
  state_->device.store(state_->owned_device.get(), std::memory_order_release);
}

void Telemetry::SetDeviceUp(bool up) { state_->device_up.store(up); }

void Telemetry::SetReady(bool ready) { state_->ready.store(ready); }

void Telemetry::SetDraining(bool draining) { state_->draining.store(draining); }

}  // namespace normd
