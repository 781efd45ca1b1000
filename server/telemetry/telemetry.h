// Telemetry: what the server counts about requests and launches, shown at /metrics.
//
// Every method is thread-safe and takes no lock, except that the first sight of a shape, a kernel
// name or a reason allocates under one. Series are bounded: shapes by TelemetryOptions, names by
// kMaxNames (name_table.h); what comes later is counted under "other".
#ifndef NORMD_SERVER_TELEMETRY_TELEMETRY_H_
#define NORMD_SERVER_TELEMETRY_TELEMETRY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kernels/backend.h"
#include "kernels/norm_spec.h"
#include "prometheus/collectable.h"
#include "prometheus/metric_family.h"

namespace normd {

// Where a request is in its life; the `stage` label.
enum class Stage : uint8_t { kDecode, kQueue, kKernel, kEncode };

// One request, when it ends, on every way out.
struct RequestRecord {
  NormSpec spec;            // whole when spec_known; otherwise only its direction counts
  int64_t rows = 0;         // meaningful when spec_known
  bool spec_known = false;  // false: the request ended before its op was understood
  absl::StatusCode code = absl::StatusCode::kOk;
  Stage ended_in = Stage::kEncode;  // the stage that a cancelled or expired request ended in
  absl::Duration total;             // from the arrival of the message
  // Time in each stage. Zero: the request did not come to it, and nothing is observed.
  absl::Duration decode;
  absl::Duration queue;
  absl::Duration kernel;
  absl::Duration encode;
  int64_t received_bytes = 0;  // of the message
  int64_t sent_bytes = 0;      // of the reply
};

struct TelemetryOptions {
  // Shapes (op, direction, dtype, width, class of rows) that get series of their own; 1 to 4096.
  // About 80 series and 8 KiB of memory a shape.
  int max_shapes = 128;
  std::string version;
  std::string commit;
};

class Telemetry : public prometheus::Collectable {
 public:
  explicit Telemetry(const TelemetryOptions& options);
  ~Telemetry() override;
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;

  // A request arrived; exactly one RequestFinished follows.
  void RequestStarted();
  void RequestFinished(const RequestRecord& record);

  // A launch completed that ran `requests` requests with `rows` rows in total.
  // REQUIRES: `kernel` has static storage
  void Launched(const NormSpec& spec, const char* kernel, int64_t rows, int64_t requests,
                absl::Duration kernel_time);

  // A request was refused by admission: "queue_full", "draining" (kReasonLabels).
  // REQUIRES: `reason` has static storage
  void Rejected(const char* reason);

  // Requests and bytes that wait for the device, as differences.
  void Queued(int delta_requests, int64_t delta_bytes);

  // The device, its measured copy (bytes read plus bytes written) and whether it works. Once,
  // before the first request; afterwards only `up` changes.
  void SetDevice(const DeviceInfo& info, double copy_bytes_per_second);
  void SetDeviceUp(bool up);

  void SetReady(bool ready);
  void SetDraining(bool draining);

  // Everything above as metric families: a scrape.
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace normd

#endif  // NORMD_SERVER_TELEMETRY_TELEMETRY_H_
