// Builds without CUDA: no backend records its work.
#include "absl/status/status.h"
#include "tests/bench/kernel/launch.h"

namespace normd {

bool HasGraphs(const Backend& /*backend*/) { return false; }

absl::StatusOr<std::unique_ptr<LaunchGraph>> RecordGraph(
    Stream& /*stream*/, absl::FunctionRef<absl::Status()> /*enqueue*/) {
  return absl::UnimplementedError("this build has no CUDA backend");
}

}  // namespace normd
