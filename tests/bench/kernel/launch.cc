#include "tests/bench/kernel/launch.h"

namespace normd {

absl::StatusOr<LaunchInfo> Launch(Backend& backend, const NormSpec& spec,
                                  absl::Span<const Segment> segments, Stream& stream) {
  return spec.direction == Direction::kForward ? backend.Forward(spec, segments, stream)
                                               : backend.Backward(spec, segments, stream);
}

}  // namespace normd
