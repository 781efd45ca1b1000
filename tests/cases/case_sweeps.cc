#include "tests/cases/case_sweeps.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/conformance/checker.h"
#include "tests/conformance/suite.h"

namespace normd {
namespace {

struct Sweep {
  const char* id;
  std::vector<int64_t> widths;  // empty: the case's
  std::vector<int64_t> rows;    // empty: the case's
  bool both_directions;
};

const std::vector<Sweep>& Sweeps() {
  static const std::vector<Sweep> kSweeps = {
      {"NC046", {97, 129, 5121}, {}, true},
      {"NC049", {320, 5119, 5120, 5121}, {}, true},
      {"NC051", {}, {1}, true},
      {"NC052", {896, 1792, 2816, 3584}, {}, true},
      {"NC054", {3, 33, 97, 769}, {2, 3, 5}, true},
      {"NC057", {}, {}, true},
      {"NC059", {}, {}, true},
      {"NC061", {}, {1, 3, 31, 33, 63, 65, 127}, true},
      {"NC063", {4096}, {}, true},
      {"NC085", {8, 16, 24, 64, 96, 128, 256, 1000, 1024, 4096, 8192}, {}, true},
      {"NC100", {}, {33, 65, 129, 257, 513, 1025}, false},
      {"NC134", {15, 16, 17, 255, 256, 257}, {4095, 4096, 4097}, true},
      {"NC136", {1024, 1152, 1280, 4096, 5120, 5121, 6272}, {64}, true},
  };
  return kSweeps;
}

NormSpec Turned(const NormSpec& spec, bool backward) {
  NormSpec turned = spec;
  turned.direction = backward ? Direction::kBackward : Direction::kForward;
  turned.want_y = turned.want_rstd = !backward;
  turned.want_mean = !backward && spec.kind == NormKind::kLayerNorm;
  turned.want_dx = backward;
  turned.want_dz = backward && spec.has_gate();
  turned.want_dweight = backward && spec.has_weight;
  turned.want_dbias = backward && spec.has_bias;
  return turned;
}

std::vector<std::string> Run(const NormCase& norm_case, NormSpec spec, int64_t width,
                             int64_t rows) {
  if (spec.group == spec.width) spec.group = width;
  spec.width = width;
  PlacedSegment segment;
  segment.operands = MakeOperands(norm_case, spec, rows);
  if (spec.direction == Direction::kBackward && segment.operands.dy.empty()) {
    segment.operands.dy = segment.operands.x;  // any gradient will do
    for (double& dy : segment.operands.dy) dy = dy > 0 ? 1 : -0.5;
  }
  for (Placement& placement : segment.placements) placement.at_end = true;
  const auto outcome = SharedLauncher().Run(spec, {segment}, MemoryKind::kDevice);
  if (!outcome.ok()) return {outcome.status().ToString()};
  return FaultsOf(spec, segment.operands, RunOracle(spec, segment.operands),
                  outcome->segments.front());
}

}  // namespace

std::vector<std::string> SweepFaults(const NormCase& norm_case) {
  std::vector<std::string> faults;
  for (const Sweep& sweep : Sweeps()) {
    if (norm_case.id != sweep.id) continue;
    const std::vector<int64_t> own_width = {norm_case.columns};
    const std::vector<int64_t> own_rows = {norm_case.rows};
    for (const int64_t width : sweep.widths.empty() ? own_width : sweep.widths) {
      for (const int64_t rows : sweep.rows.empty() ? own_rows : sweep.rows) {
        for (const bool backward : {false, true}) {
          if (!sweep.both_directions && backward != norm_case.backward()) continue;
          const NormSpec spec = Turned(norm_case.spec, backward);
          for (const std::string& fault : Run(norm_case, spec, width, rows)) {
            faults.push_back(
                absl::StrCat(rows, " x ", width, backward ? " backward: " : ": ", fault));
          }
        }
      }
    }
  }
  return faults;
}

}  // namespace normd
