#include "tests/conformance/batch_check.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/conformance/checker.h"
#include "tests/conformance/random.h"
#include "tests/conformance/workload.h"
#include "tests/oracle/oracle.h"

namespace normd {

Batch RandomBatch(uint64_t seed, int segments) {
  Random random(seed);
  Batch batch;
  // In place and end placement are for single points: their alignment hides nothing here.
  batch.point = RandomPoint(random.Next(), 1 << 12);
  batch.spec = SpecOf(batch.point, seed);
  const int64_t most_rows = std::clamp<int64_t>((1 << 12) / batch.spec.width, 2, 300);
  for (int i = 0; i < segments; ++i) {
    Point point = batch.point;
    Set(point, Axis::kAlignment, static_cast<int>(random.Below(kAlignments)));
    Set(point, Axis::kStrides, static_cast<int>(random.Below(3)));
    const float eps = EpsValues()[static_cast<size_t>(random.Below(5))];
    batch.segments.push_back(
        MakeSegment(point, batch.spec, random.Below(most_rows + 1), eps, random.Next()));
  }
  return batch;
}

absl::StatusOr<std::vector<SegmentOutcome>> RunTogether(Launcher& launcher, const NormSpec& spec,
                                                        absl::Span<const PlacedSegment> segments) {
  const auto most = static_cast<size_t>(launcher.backend().info().max_segments);
  std::vector<SegmentOutcome> outcomes;
  for (size_t first = 0; first < segments.size(); first += most) {
    absl::StatusOr<LaunchOutcome> launch =
        launcher.Run(spec, segments.subspan(first, most), MemoryKind::kDevice);
    if (!launch.ok()) return launch.status();
    std::move(launch->segments.begin(), launch->segments.end(), std::back_inserter(outcomes));
  }
  return outcomes;
}

std::vector<std::string> BatchFaults(Launcher& launcher, const Batch& batch, bool with_oracle) {
  const auto together = RunTogether(launcher, batch.spec, batch.segments);
  if (!together.ok()) return {together.status().ToString()};
  std::vector<std::string> faults;
  for (size_t i = 0; i < batch.segments.size(); ++i) {
    const PlacedSegment& segment = batch.segments[i];
    const auto alone = launcher.Run(batch.spec, {segment}, MemoryKind::kDevice);
    if (!alone.ok()) return {alone.status().ToString()};
    std::vector<std::string> found = BitDifferences(alone->segments.front(), (*together)[i]);
    if (with_oracle) {
      const Results right = RunOracle(batch.spec, segment.operands);
      for (std::string& fault : FaultsOf(batch.spec, segment.operands, right, (*together)[i])) {
        found.push_back(std::move(fault));
      }
    }
    for (const std::string& fault : found) {
      faults.push_back(
          absl::StrCat("segment ", i, " of ", segment.operands.rows, " rows: ", fault));
    }
  }
  return faults;
}

std::vector<std::string> BatchFaults(Launcher& launcher, uint64_t seed, int segments) {
  const Batch batch = RandomBatch(seed, segments);
  std::vector<std::string> faults = BatchFaults(launcher, batch, true);
  if (!faults.empty()) faults.insert(faults.begin(), Label(batch.point));
  return faults;
}

}  // namespace normd
