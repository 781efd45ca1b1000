#include "tests/cases/case_accounting.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace normd {
namespace {

// Cases that the seam cannot express, with the reason. tests/integration/test_cases_wire.py runs
// them, unless README.md says which issue they belong to.
const std::map<std::string, std::string>& ElsewhereCases() {
  static const std::map<std::string, std::string> kElsewhere = {
      {"NC041", "an eps that was not sent: the wire"},
      {"NC093", "a weight of another length: a segment has no lengths"},
      {"NC133", "a call from a fresh thread of the server"},
      {"NC140", "declared shapes"},
      {"NC142", "message sizes"},
      {"NC143", "buffers"},
      {"NC145", "buffers"},
      {"NC146", "the server after a device error"},
  };
  return kElsewhere;
}

// Params that the runner acts on, or that describe the tensors.
const std::set<std::string>& KnownParams() {
  static const std::set<std::string> kKnown = {
      // Describe the op and its tensors (norm_case.cc).
      "eps", "weight_recipe", "bias_recipe", "z_recipe", "dy_recipe", "weight_dtype", "z_dtype",
      "group_size", "norm_before_gate",
      // Acted on by case_run.cc.
      "sequence", "poison", "repeat", "compare_rows", "base_shape", "token_stride", "head_stride",
      "dy_strides", "masks", "alias", "expect_dbias", "bias", "prefill_grad_buffers",
      "device_index", "row_stride",
      // Held by every launch: guards, inputs unchanged, the end of the allocation, the rows of a
      // flattened shape, the dense copy of a transposed view.
      "guard_after_output", "check", "placement", "shape", "strides", "storage",
      // Sweeps (case_sweeps.cc), the large tier (large_cases.cc).
      "path_switch_rows", "widths", "bytes_of_x", "prefill_output",
      // Run under that tool from outside (tests/gpu).
      "tool",
      // Of the wire (tests/integration).
      "eps_field", "weight_len", "call_from", "try_dims"};
  return kKnown;
}

// Nothing of the file is left out silently: each case runs here, in the large tier or elsewhere,
// and no param is passed over.
class Accounting : public testing::Test {
 public:
  explicit Accounting(const std::vector<NormCase>& cases) : cases_(cases) {}

  void TestBody() override {
    size_t elsewhere = 0;
    for (const NormCase& norm_case : cases_) {
      const bool known = norm_case.tier == "unit" || norm_case.tier == "medium" ||
                         norm_case.tier == "large" || norm_case.tier == "service";
      EXPECT_TRUE(known) << norm_case.id << ": tier " << norm_case.tier;
      const bool listed = ElsewhereCases().count(norm_case.id) != 0;
      EXPECT_TRUE(listed || norm_case.tier != "service") << norm_case.id << " runs nowhere";
      elsewhere += listed;
      for (const auto& [param, value] : norm_case.params.items()) {
        EXPECT_EQ(KnownParams().count(param), 1U) << norm_case.id << ": " << param;
      }
    }
    EXPECT_EQ(elsewhere, ElsewhereCases().size()) << "a listed case is not in the file";
    EXPECT_GE(cases_.size(), 88U);
  }

 private:
  const std::vector<NormCase>& cases_;
};

}  // namespace

bool RunsElsewhere(const NormCase& norm_case) { return ElsewhereCases().count(norm_case.id) != 0; }

void RegisterAccounting(const std::vector<NormCase>& cases) {
  testing::RegisterTest("Cases", "EachRunsSomewhere", nullptr, nullptr, __FILE__, __LINE__,
                        [&cases]() -> testing::Test* { return new Accounting(cases); });
}

}  // namespace normd
