// The oracle against the expected values of the cases: float64 results of others, to the nine
// digits of the file.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/cases/expected.h"
#include "tests/cases/norm_case.h"

namespace normd {
namespace {

void Compare(const NormCase& norm_case, const std::string& name, const Reference& got,
             const nlohmann::json& value, int64_t at) {
  const double right = NumberOf(value);
  ASSERT_LT(at, static_cast<int64_t>(got.value.size())) << norm_case.id << " " << name;
  const double element = got.value[static_cast<size_t>(at)];
  if (std::isnan(right)) {
    EXPECT_TRUE(std::isnan(element)) << norm_case.id << " " << name << " " << at;
    return;
  }
  EXPECT_NEAR(element, right, 2e-8 * std::abs(right) + 2e-8)
      << norm_case.id << " " << name << " " << at;
}

TEST(OracleCases, AgreesWithTheExpectedValues) {
  const auto cases = LoadCases(NORMD_CASES_FILE);
  ASSERT_TRUE(cases.ok()) << cases.status();
  int compared = 0;
  for (const NormCase& norm_case : *cases) {
    const bool small = norm_case.tier == "unit" || norm_case.tier == "medium";
    if (!small || !norm_case.expected.is_object()) continue;
    const int64_t rows = norm_case.rows;
    const Operands operands = MakeOperands(norm_case, norm_case.spec, rows);
    const Results got = RunOracle(norm_case, norm_case.spec, operands);
    const auto compare_all = [&](const char* name, const Reference& reference) {
      if (!norm_case.expected.contains(name)) return;
      int64_t at = 0;
      for (const auto& value : norm_case.expected.at(name)) {
        if (!value.is_array()) Compare(norm_case, name, reference, value, at++);
        for (const auto& inner : value.is_array() ? value : nlohmann::json::array()) {
          Compare(norm_case, name, reference, inner, at++);
        }
      }
    };
    compare_all("y", got.y);
    compare_all("dx", got.dx);
    compare_all("dz", got.dz);
    compare_all("dweight", got.dweight);
    compare_all("dbias", got.dbias);
    compare_all("mean", got.mean);
    compare_all("rstd", got.rstd);
    for (const auto& [name, reference] :
         {std::pair{"y_samples_row_col_value", &got.y}, {"dx_samples_row_col_value", &got.dx}}) {
      if (!norm_case.expected.contains(name)) continue;
      for (const auto& sample : norm_case.expected.at(name)) {
        const int64_t at = sample[0].get<int64_t>() * norm_case.columns + sample[1].get<int64_t>();
        Compare(norm_case, name, *reference, sample[2], at);
      }
    }
    ++compared;
  }
  EXPECT_GE(compared, 70);
}

}  // namespace
}  // namespace normd
