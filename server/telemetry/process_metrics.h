// ProcessMetrics: the process_* metrics that every Prometheus client has, from /proc and getrusage.
// Thread-safe; a scrape reads a few small files.
#ifndef NORMD_SERVER_TELEMETRY_PROCESS_METRICS_H_
#define NORMD_SERVER_TELEMETRY_PROCESS_METRICS_H_

#include <vector>

#include "prometheus/collectable.h"
#include "prometheus/metric_family.h"

namespace normd {

class ProcessMetrics : public prometheus::Collectable {
 public:
  ProcessMetrics();

  // A value that the system does not give (no /proc) is left out.
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  double start_seconds_;  // since the epoch
};

}  // namespace normd

#endif  // NORMD_SERVER_TELEMETRY_PROCESS_METRICS_H_
