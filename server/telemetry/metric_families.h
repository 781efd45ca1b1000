// Builds prometheus-cpp metric families in a few words a metric.
#ifndef NORMD_SERVER_TELEMETRY_METRIC_FAMILIES_H_
#define NORMD_SERVER_TELEMETRY_METRIC_FAMILIES_H_

#include <utility>
#include <vector>

#include "prometheus/client_metric.h"
#include "prometheus/metric_family.h"
#include "server/telemetry/histogram.h"

namespace normd {

using MetricLabels = std::vector<prometheus::ClientMetric::Label>;

class MetricFamilies {
 public:
  // Each starts a family; the Adds that follow go into it.
  void Counter(const char* name, const char* help);
  void Gauge(const char* name, const char* help);
  void Histogram(const char* name, const char* help);

  // REQUIRES: the current family is a counter or a gauge
  void Add(MetricLabels labels, double value);
  // `per_base` of the histogram's units are one base unit of the metric: 1e9 for nanoseconds.
  // REQUIRES: the current family is a histogram
  void Add(MetricLabels labels, const normd::Histogram& histogram, double per_base);

  std::vector<prometheus::MetricFamily> Take() { return std::move(families_); }

 private:
  void Start(const char* name, const char* help, prometheus::MetricType type);

  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace normd

#endif  // NORMD_SERVER_TELEMETRY_METRIC_FAMILIES_H_
