#include "server/telemetry/process_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <optional>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/telemetry/metric_families.h"

namespace normd {
namespace {

struct MemoryUse {
  double virtual_bytes = 0;
  double resident_bytes = 0;
};

std::optional<MemoryUse> ReadMemoryUse() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  double resident_pages = 0;
  if (!(statm >> pages >> resident_pages)) return std::nullopt;
  const auto page_bytes = static_cast<double>(sysconf(_SC_PAGESIZE));
  return MemoryUse{pages * page_bytes, resident_pages * page_bytes};
}

std::optional<int> CountOpenFiles() {
  DIR* const directory = opendir("/proc/self/fd");
  if (directory == nullptr) return std::nullopt;
  int entries = 0;
  while (readdir(directory) != nullptr) ++entries;
  closedir(directory);
  return entries - 3;  // ".", ".." and the directory itself
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

ProcessMetrics::ProcessMetrics()
    : start_seconds_(absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch())) {}

std::vector<prometheus::MetricFamily> ProcessMetrics::Collect() const {
  MetricFamilies families;
  families.Gauge("process_start_time_seconds", "Start of the process, seconds since the epoch");
  families.Add({}, start_seconds_);
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    families.Counter("process_cpu_seconds_total", "CPU time of the process, user and system");
    families.Add({}, Seconds(usage.ru_utime) + Seconds(usage.ru_stime));
  }
  if (const auto memory = ReadMemoryUse()) {
    families.Gauge("process_resident_memory_bytes", "Resident memory of the process");
    families.Add({}, memory->resident_bytes);
    families.Gauge("process_virtual_memory_bytes", "Virtual memory of the process");
    families.Add({}, memory->virtual_bytes);
  }
  if (const auto files = CountOpenFiles()) {
    families.Gauge("process_open_fds", "Open file descriptors of the process");
    families.Add({}, *files);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    families.Gauge("process_max_fds", "File descriptors that the process may open");
    families.Add({}, static_cast<double>(limit.rlim_cur));
  }
  return families.Take();
}

}  // namespace normd
