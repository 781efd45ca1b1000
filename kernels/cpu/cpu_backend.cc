#include "kernels/cpu/cpu_backend.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/check.h"
#include "kernels/cpu/cpu_event.h"
#include "kernels/cpu/cpu_memory.h"
#include "kernels/cpu/cpu_stream.h"
#include "kernels/cpu/launch.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/cpu/tiling.h"

namespace normd {
namespace {

constexpr int kMaxThreads = 256;
constexpr int kMaxSegments = 1024;

// Cores that the process may use.
int UsableCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return 1;
  return std::clamp(CPU_COUNT(&cores), 1, kMaxThreads);
}

// As the kernel prints it; Arm processors have no such line.
std::string ProcessorModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

class CpuBackend : public Backend {
 public:
  CpuBackend(int threads, bool prefault_staging)
      : prefault_staging_(prefault_staging), pool_(threads - 1) {
    info_.name = "cpu";
    info_.model = ProcessorModel();
    info_.memory_bytes = PhysicalMemoryBytes();
    info_.max_segments = kMaxSegments;
  }

  const DeviceInfo& info() const override { return info_; }

  absl::StatusOr<Memory> Allocate(int64_t bytes, MemoryKind kind) override {
    return AllocateCpuMemory(bytes, prefault_staging_ && kind == MemoryKind::kStaging);
  }

  absl::StatusOr<std::unique_ptr<Stream>> NewStream() override {
    return std::make_unique<CpuStream>(pool_);
  }

  absl::StatusOr<std::unique_ptr<Event>> NewEvent(bool timed) override {
    return std::make_unique<CpuEvent>(timed);
  }

  absl::StatusOr<absl::Duration> Elapsed(Event& start, Event& end) override {
    auto& first = static_cast<CpuEvent&>(start);
    auto& last = static_cast<CpuEvent&>(end);
    if (!first.timed() || !last.timed()) {
      return absl::FailedPreconditionError("an event is not timed");
    }
    const std::shared_ptr<RecordedPoint> from = first.point();
    const std::shared_ptr<RecordedPoint> to = last.point();
    if (from == nullptr || to == nullptr || !from->completed() || !to->completed()) {
      return absl::FailedPreconditionError("an event has not completed");
    }
    return to->time() - from->time();
  }

  absl::StatusOr<LaunchInfo> Forward(const NormSpec& spec, absl::Span<const Segment> segments,
                                     Stream& stream) override {
    NORMD_CHECK(spec.direction == Direction::kForward);
    return Enqueue(spec, segments, stream);
  }

  absl::StatusOr<LaunchInfo> Backward(const NormSpec& spec, absl::Span<const Segment> segments,
                                      Stream& stream) override {
    NORMD_CHECK(spec.direction == Direction::kBackward);
    return Enqueue(spec, segments, stream);
  }

 private:
  absl::StatusOr<LaunchInfo> Enqueue(const NormSpec& spec, absl::Span<const Segment> segments,
                                     Stream& stream) {
    NORMD_CHECK(segments.size() <= static_cast<size_t>(info_.max_segments));
    absl::StatusOr<std::unique_ptr<Launch>> launch = Launch::Make(spec, segments);
    if (!launch.ok()) return launch.status();
    LaunchInfo info;
    info.kernel = KernelName(spec);
    if (!(*launch)->has_work()) return info;
    info.launches = 1;
    static_cast<CpuStream&>(stream).Enqueue(
        [launch = *std::move(launch)](ThreadPool& pool, Scratch& scratch) {
          launch->Run(pool, scratch);
        });
    return info;
  }

  const bool prefault_staging_;
  DeviceInfo info_;
  ThreadPool pool_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Backend>> NewCpuBackend(const CpuOptions& options) {
  if (options.threads < 0 || options.threads > kMaxThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("threads is ", options.threads, "; it is 0 to ", kMaxThreads));
  }
  const int threads = options.threads == 0 ? UsableCores() : options.threads;
  return std::make_unique<CpuBackend>(threads, options.prefault_staging);
}

}  // namespace normd
