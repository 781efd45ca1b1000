#include "tests/cases/case_refusals.h"

#include "absl/strings/str_cat.h"
#include "kernels/field_error.h"
#include "kernels/segment.h"

namespace normd {
namespace {

struct Refusal {
  const char* id;
  const char* field;
};
constexpr Refusal kRefused[] = {{"NC039", "op.eps"}, {"NC069", "x.shape"}};

std::string FieldOfRefusal(const std::string& id) {
  for (const Refusal& refusal : kRefused) {
    if (id == refusal.id) return refusal.field;
  }
  return "";
}

}  // namespace

bool MustBeRefused(const NormCase& norm_case) { return !FieldOfRefusal(norm_case.id).empty(); }

// Forward and backward, each must refuse, before anything is placed.
std::vector<std::string> RefusalFaults(const NormCase& norm_case) {
  const std::string field = FieldOfRefusal(norm_case.id);
  std::vector<std::string> faults;
  for (const bool backward : {false, true}) {
    NormSpec spec = norm_case.spec;
    spec.direction = backward ? Direction::kBackward : Direction::kForward;
    spec.want_y = !backward;
    spec.want_mean = spec.want_rstd = spec.want_dweight = spec.want_dbias = false;
    spec.want_dx = backward;
    absl::Status status = Validate(spec);
    Segment segment;
    segment.rows = norm_case.rows;
    segment.eps = static_cast<float>(norm_case.eps);
    if (status.ok()) status = Validate(spec, segment);
    if (FieldOf(status) == field) continue;
    faults.push_back(absl::StrCat("not refused with ", field, ": ", status.ToString()));
  }
  return faults;
}

}  // namespace normd
