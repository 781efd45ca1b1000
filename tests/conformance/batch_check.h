// Batches: a segment's bits may not depend on what else is in its launch.
#ifndef NORMD_TESTS_CONFORMANCE_BATCH_CHECK_H_
#define NORMD_TESTS_CONFORMANCE_BATCH_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "kernels/norm_spec.h"
#include "tests/conformance/axes.h"
#include "tests/conformance/launcher.h"

namespace normd {

// A random spec, and segments for it that differ in rows, weights, eps and strides.
struct Batch {
  Point point{};
  NormSpec spec;
  std::vector<PlacedSegment> segments;
};
Batch RandomBatch(uint64_t seed, int segments);

// Runs each segment alone and all in one launch (in chunks of max_segments): lines for segments
// whose bits differ, whose memory is touched outside its outputs, or that miss the oracle.
std::vector<std::string> BatchFaults(Launcher& launcher, uint64_t seed, int segments);

// The same for given segments; each is compared with the oracle when `with_oracle`.
std::vector<std::string> BatchFaults(Launcher& launcher, const Batch& batch, bool with_oracle);

// All segments, in as few launches as max_segments allows.
absl::StatusOr<std::vector<SegmentOutcome>> RunTogether(Launcher& launcher, const NormSpec& spec,
                                                        absl::Span<const PlacedSegment> segments);

}  // namespace normd

#endif  // NORMD_TESTS_CONFORMANCE_BATCH_CHECK_H_
