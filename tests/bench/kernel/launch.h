// Launch: one launch of either direction, and LaunchGraph: launches recorded once and replayed as a
// whole, which takes the host's gaps out of short ones.
#ifndef NORMD_TESTS_BENCH_KERNEL_LAUNCH_H_
#define NORMD_TESTS_BENCH_KERNEL_LAUNCH_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/backend.h"

namespace normd {

absl::StatusOr<LaunchInfo> Launch(Backend& backend, const NormSpec& spec,
                                  absl::Span<const Segment> segments, Stream& stream);

// Not thread-safe; must not outlive the stream it was recorded on, nor end while it runs.
class LaunchGraph {
 public:
  virtual ~LaunchGraph() = default;
  // Enqueues everything that was recorded.
  virtual absl::Status Replay() = 0;
};

// Whether the backend's work can be recorded: that of a CUDA device in a build that has CUDA.
bool HasGraphs(const Backend& backend);

// Records what `enqueue` puts on the stream, which must not wait for the device and must have run
// once before. REQUIRES: HasGraphs(backend), a stream of it.
absl::StatusOr<std::unique_ptr<LaunchGraph>> RecordGraph(Stream& stream,
                                                         absl::FunctionRef<absl::Status()> enqueue);

}  // namespace normd

#endif  // NORMD_TESTS_BENCH_KERNEL_LAUNCH_H_
