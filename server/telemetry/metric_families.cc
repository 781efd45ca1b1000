#include "server/telemetry/metric_families.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace normd {

void MetricFamilies::Start(const char* name, const char* help, prometheus::MetricType type) {
  prometheus::MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = type;
  families_.push_back(std::move(family));
}

void MetricFamilies::Counter(const char* name, const char* help) {
  Start(name, help, prometheus::MetricType::Counter);
}

void MetricFamilies::Gauge(const char* name, const char* help) {
  Start(name, help, prometheus::MetricType::Gauge);
}

void MetricFamilies::Histogram(const char* name, const char* help) {
  Start(name, help, prometheus::MetricType::Histogram);
}

void MetricFamilies::Add(MetricLabels labels, double value) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  if (families_.back().type == prometheus::MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  families_.back().metric.push_back(std::move(metric));
}

void MetricFamilies::Add(MetricLabels labels, const normd::Histogram& histogram, double per_base) {
  const normd::Histogram::Snapshot snapshot = histogram.Read();
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  metric.histogram.sample_count = static_cast<uint64_t>(snapshot.count);
  metric.histogram.sample_sum = static_cast<double>(snapshot.sum) / per_base;
  uint64_t cumulative = 0;
  for (size_t i = 0; i < snapshot.counts.size(); ++i) {
    cumulative += static_cast<uint64_t>(snapshot.counts[i]);
    // Divided, not multiplied by 1e-9: 2500 ns becomes the double that prints as 2.5e-06.
    const double bound = i < histogram.bounds().size()
                             ? static_cast<double>(histogram.bounds()[i]) / per_base
                             : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({cumulative, bound});
  }
  families_.back().metric.push_back(std::move(metric));
}

}  // namespace normd
