// Workload: a point made concrete, the spec and one segment with values and placement.
#ifndef NORMD_TESTS_CONFORMANCE_WORKLOAD_H_
#define NORMD_TESTS_CONFORMANCE_WORKLOAD_H_

#include <cstdint>

#include "kernels/backend.h"
#include "kernels/norm_spec.h"
#include "tests/conformance/axes.h"
#include "tests/conformance/launcher.h"

namespace normd {

struct Workload {
  NormSpec spec;
  PlacedSegment segment;
  MemoryKind memory = MemoryKind::kDevice;
};

// The same point and seed give the same workload. The spec depends on the point and, where outputs
// are chosen at random, on the seed.
NormSpec SpecOf(const Point& point, uint64_t seed);
Workload MakeWorkload(const Point& point, uint64_t seed);

// Another segment for the spec of `point`, with rows and eps of its own.
PlacedSegment MakeSegment(const Point& point, const NormSpec& spec, int64_t rows, float eps,
                          uint64_t seed);

}  // namespace normd

#endif  // NORMD_TESTS_CONFORMANCE_WORKLOAD_H_
