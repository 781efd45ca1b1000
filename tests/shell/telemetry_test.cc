#include "server/telemetry/telemetry.h"

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace normd {
namespace {

using Labels = std::map<std::string, std::string>;

NormSpec Spec() {
  NormSpec spec;
  spec.width = 64;
  spec.group = 64;
  spec.dtype = DataType::kBFloat16;
  spec.want_y = true;
  return spec;
}

RequestRecord Served() {
  RequestRecord record;
  record.spec = Spec();
  record.spec_known = true;
  record.rows = 100;
  record.total = absl::Microseconds(30);
  record.decode = absl::Microseconds(1);
  record.queue = absl::Microseconds(2);
  record.kernel = absl::Microseconds(3);
  record.encode = absl::Microseconds(4);
  record.received_bytes = 1000;
  record.sent_bytes = 500;
  return record;
}

// The one sample of a family that has these labels among its own.
std::optional<prometheus::ClientMetric> Find(const Telemetry& telemetry, const std::string& name,
                                             const Labels& labels) {
  std::optional<prometheus::ClientMetric> found;
  for (const prometheus::MetricFamily& family : telemetry.Collect()) {
    if (family.name != name) continue;
    for (const prometheus::ClientMetric& metric : family.metric) {
      Labels have;
      for (const auto& label : metric.label) have[label.name] = label.value;
      bool all = true;
      for (const auto& [key, value] : labels) all = all && have[key] == value;
      if (!all) continue;
      EXPECT_FALSE(found) << name << ": two samples match";
      found = metric;
    }
  }
  return found;
}

double Counter(const Telemetry& telemetry, const std::string& name, const Labels& labels) {
  const auto metric = Find(telemetry, name, labels);
  EXPECT_TRUE(metric) << name;
  return metric ? metric->counter.value : -1;
}

double Gauge(const Telemetry& telemetry, const std::string& name, const Labels& labels) {
  const auto metric = Find(telemetry, name, labels);
  EXPECT_TRUE(metric) << name;
  return metric ? metric->gauge.value : -1;
}

class TelemetryTest : public testing::Test {
 protected:
  TelemetryTest() {
    telemetry_.SetDevice({.name = "cpu", .model = "m", .memory_bytes = 1 << 30}, 1e10);
  }

  Telemetry telemetry_{TelemetryOptions{.max_shapes = 4, .version = "1", .commit = "c"}};
};

TEST_F(TelemetryTest, CountsARequestOnceEverywhere) {
  telemetry_.RequestStarted();
  EXPECT_EQ(Gauge(telemetry_, "normd_inflight_requests", {{"device", "cpu"}}), 1);
  telemetry_.RequestFinished(Served());
  EXPECT_EQ(Gauge(telemetry_, "normd_inflight_requests", {}), 0);
  EXPECT_EQ(
      Counter(
          telemetry_, "normd_requests_total",
          {{"op", "layer_norm"}, {"direction", "forward"}, {"dtype", "bfloat16"}, {"code", "OK"}}),
      1);
  EXPECT_EQ(Counter(telemetry_, "normd_received_bytes_total", {{"path", "inline"}}), 1000);
  EXPECT_EQ(Counter(telemetry_, "normd_sent_bytes_total", {{"path", "inline"}}), 500);
  const auto request = Find(telemetry_, "normd_request_duration_seconds",
                            {{"width", "64"}, {"rows", "256"}, {"dtype", "bfloat16"}});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->histogram.sample_count, 1u);
  EXPECT_DOUBLE_EQ(request->histogram.sample_sum, 30e-6);
  for (const char* stage : {"decode", "queue", "kernel", "encode"}) {
    const auto histogram = Find(telemetry_, "normd_stage_duration_seconds", {{"stage", stage}});
    EXPECT_EQ(histogram->histogram.sample_count, 1u) << stage;
  }
}

TEST_F(TelemetryTest, BucketsAreCumulativeAndEndInInfinity) {
  telemetry_.RequestFinished(Served());
  const auto request = Find(telemetry_, "normd_request_duration_seconds", {{"width", "64"}});
  const auto& buckets = request->histogram.bucket;
  EXPECT_EQ(buckets.back().cumulative_count, 1u);
  EXPECT_TRUE(std::isinf(buckets.back().upper_bound));
  for (const auto& bucket : buckets) {
    EXPECT_EQ(bucket.cumulative_count, bucket.upper_bound >= 30e-6 ? 1u : 0u) << bucket.upper_bound;
  }
  EXPECT_EQ(buckets[2].upper_bound, 2.5e-6);
}

TEST_F(TelemetryTest, ARequestThatWasNotUnderstoodHasNoShape) {
  RequestRecord record;
  record.spec.direction = Direction::kBackward;
  record.code = absl::StatusCode::kInvalidArgument;
  record.decode = absl::Microseconds(1);
  telemetry_.RequestFinished(record);
  EXPECT_EQ(Counter(telemetry_, "normd_requests_total",
                    {{"op", "unknown"},
                     {"direction", "backward"},
                     {"dtype", "unknown"},
                     {"code", "INVALID_ARGUMENT"}}),
            1);
  EXPECT_FALSE(Find(telemetry_, "normd_request_duration_seconds", {}));
  const auto queue = Find(telemetry_, "normd_stage_duration_seconds", {{"stage", "queue"}});
  EXPECT_EQ(queue->histogram.sample_count, 0u);
}

TEST_F(TelemetryTest, CancelledAndExpiredCountByStage) {
  RequestRecord record = Served();
  record.code = absl::StatusCode::kCancelled;
  record.ended_in = Stage::kQueue;
  telemetry_.RequestFinished(record);
  record.code = absl::StatusCode::kDeadlineExceeded;
  record.ended_in = Stage::kDecode;
  telemetry_.RequestFinished(record);
  EXPECT_EQ(Counter(telemetry_, "normd_cancelled_total", {{"stage", "queue"}}), 1);
  EXPECT_EQ(Counter(telemetry_, "normd_cancelled_total", {{"stage", "decode"}}), 0);
  EXPECT_EQ(Counter(telemetry_, "normd_deadline_exceeded_total", {{"stage", "decode"}}), 1);
}

TEST_F(TelemetryTest, CountsLaunches) {
  telemetry_.Launched(Spec(), "row_tiled", 100, 3, absl::Microseconds(5));
  const Labels op = {{"op", "layer_norm"}, {"direction", "forward"}};
  Labels kernel = op;
  kernel["kernel"] = "row_tiled";
  EXPECT_EQ(Counter(telemetry_, "normd_kernel_launches_total", kernel), 1);
  Labels bytes = op;
  bytes["dtype"] = "bfloat16";
  EXPECT_EQ(Counter(telemetry_, "normd_kernel_bytes_total", bytes), 2 * 2 * 64 * 100);
  EXPECT_EQ(Find(telemetry_, "normd_batch_requests", op)->histogram.sample_sum, 3);
  EXPECT_EQ(Find(telemetry_, "normd_batch_rows", op)->histogram.sample_sum, 100);
  const auto time = Find(telemetry_, "normd_kernel_duration_seconds", {{"width", "64"}});
  EXPECT_DOUBLE_EQ(time->histogram.sample_sum, 5e-6);
}

TEST_F(TelemetryTest, ParametersCountOnceARequest) {
  NormSpec spec = Spec();
  spec.has_weight = true;
  telemetry_.Launched(spec, "k", 100, 3, absl::Microseconds(5));
  EXPECT_EQ(Counter(telemetry_, "normd_kernel_bytes_total",
                    {{"op", "layer_norm"}, {"direction", "forward"}, {"dtype", "bfloat16"}}),
            2 * 2 * 64 * 100 + 3 * 4 * 64);
}

TEST_F(TelemetryTest, QueueAndRejections) {
  telemetry_.Queued(2, 100);
  telemetry_.Queued(-1, -40);
  telemetry_.Rejected("queue_full");
  EXPECT_EQ(Gauge(telemetry_, "normd_queue_depth", {}), 1);
  EXPECT_EQ(Gauge(telemetry_, "normd_queue_bytes", {}), 60);
  EXPECT_EQ(Counter(telemetry_, "normd_rejected_total", {{"reason", "queue_full"}}), 1);
  EXPECT_EQ(Counter(telemetry_, "normd_rejected_total", {{"reason", "draining"}}), 0);
}

TEST_F(TelemetryTest, ShapesPastTheCapAreOther) {
  for (int64_t width = 1; width <= 6; ++width) {
    RequestRecord record = Served();
    record.spec.width = width;
    telemetry_.RequestFinished(record);
  }
  EXPECT_EQ(Gauge(telemetry_, "normd_metric_shapes", {}), 4);
  EXPECT_EQ(Counter(telemetry_, "normd_metric_shapes_overflowed_total", {}), 2);
  const auto other = Find(telemetry_, "normd_request_duration_seconds",
                          {{"width", "other"}, {"rows", "other"}, {"op", "layer_norm"}});
  EXPECT_EQ(other->histogram.sample_count, 2u);
}

TEST_F(TelemetryTest, StateAndDevice) {
  EXPECT_EQ(Gauge(telemetry_, "normd_ready", {}), 0);
  telemetry_.SetReady(true);
  telemetry_.SetDraining(true);
  EXPECT_EQ(Gauge(telemetry_, "normd_ready", {}), 1);
  EXPECT_EQ(Gauge(telemetry_, "normd_draining", {}), 1);
  EXPECT_EQ(Gauge(telemetry_, "normd_device_up", {{"device", "cpu"}}), 1);
  telemetry_.SetDeviceUp(false);
  EXPECT_EQ(Gauge(telemetry_, "normd_device_up", {{"device", "cpu"}}), 0);
  EXPECT_EQ(Gauge(telemetry_, "normd_device_copy_bytes_per_second", {{"device", "cpu"}}), 1e10);
  EXPECT_EQ(Gauge(telemetry_, "normd_device_memory_bytes", {{"device", "cpu"}}), 1 << 30);
  EXPECT_EQ(Gauge(telemetry_, "normd_build_info", {{"version", "1"}, {"commit", "c"}}), 1);
}

TEST_F(TelemetryTest, LosesNothingWhileItIsScraped) {
  constexpr int kThreads = 4;
  constexpr int kRequests = 2000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRequests; ++i) {
        telemetry_.RequestStarted();
        telemetry_.RequestFinished(Served());
      }
    });
  }
  for (int i = 0; i < 20; ++i) telemetry_.Collect();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(
      Counter(
          telemetry_, "normd_requests_total",
          {{"op", "layer_norm"}, {"direction", "forward"}, {"dtype", "bfloat16"}, {"code", "OK"}}),
      kThreads * kRequests);
  EXPECT_EQ(Gauge(telemetry_, "normd_inflight_requests", {}), 0);
}

}  // namespace
}  // namespace normd
