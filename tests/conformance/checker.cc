#include "tests/conformance/checker.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tests/oracle/bounded.h"
#include "tests/oracle/element.h"

namespace normd {
namespace {

std::string CompareSlot(Slot slot, const SlotShape& shape, const Reference& right,
                        const SlotBytes& got) {
  if (got.size() != shape.rows * shape.columns) {
    return absl::StrCat(Name(slot), ": has ", got.size(), " elements");
  }
  int64_t wrong = 0;
  int64_t worst = 0;
  double worst_excess = -1;
  for (int64_t i = 0; i < got.size(); ++i) {
    const auto at = static_cast<size_t>(i);
    const double element = got.at(i);
    if (Accepts(shape.dtype, right.value[at], right.error[at], element)) continue;
    ++wrong;
    const double distance = std::abs(element - right.value[at]);
    const double excess = std::isnan(distance) ? HUGE_VAL : distance / (right.error[at] + 1e-300);
    if (excess <= worst_excess) continue;
    worst_excess = excess;
    worst = i;
  }
  if (wrong == 0) return "";
  const auto at = static_cast<size_t>(worst);
  return absl::StrFormat(
      "%s: %d of %d elements wrong, worst [%d, %d]: got %.9g, right %.9g +- %.3g", Name(slot),
      wrong, got.size(), worst / shape.columns, worst % shape.columns, got.at(worst),
      right.value[at], right.error[at]);
}

}  // namespace

std::vector<std::string> FaultsOf(const NormSpec& spec, const Operands& operands,
                                  const Results& right, const SegmentOutcome& outcome) {
  std::vector<std::string> faults = outcome.faults;
  for (size_t index = IndexOf(Slot::kY); index < kSlots; ++index) {
    const Slot slot = SlotAt(index);
    const SlotShape shape = ShapeOf(slot, spec, operands.rows);
    if (!shape.present) continue;
    std::string fault = CompareSlot(slot, shape, ReferenceOf(slot, right), outcome.outputs[index]);
    if (!fault.empty()) faults.push_back(std::move(fault));
  }
  return faults;
}

std::vector<std::string> BitDifferences(const SegmentOutcome& a, const SegmentOutcome& b) {
  std::vector<std::string> differences;
  for (size_t index = 0; index < kSlots; ++index) {
    if (a.outputs[index] == b.outputs[index]) continue;
    differences.push_back(absl::StrCat(Name(SlotAt(index)), ": other bits"));
  }
  return differences;
}

std::string Lines(absl::Span<const std::string> faults) { return absl::StrJoin(faults, "\n"); }

}  // namespace normd
