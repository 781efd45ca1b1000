// NormCase: one entry of norm_cases.json, made concrete.
#ifndef NORMD_TESTS_CASES_NORM_CASE_H_
#define NORMD_TESTS_CASES_NORM_CASE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/norm_spec.h"
#include "tests/oracle/oracle.h"

namespace normd {

struct NormCase {
  std::string id;
  std::string tier;  // unit, medium, large, service
  std::string kind;  // the class of fault
  int64_t rows = 0;
  int64_t columns = 0;
  // Rows repeat after so many; 0: they do not.
  int64_t period = 0;
  NormSpec spec;  // outputs that the op can have are wanted
  double eps = 0;
  double absolute = 0;  // tolerance: tol_strict where the case has one
  double relative = 0;
  nlohmann::json params;
  nlohmann::json expected;  // null when the case has none
  nlohmann::json recipes;   // x, weight, bias, z, dy

  bool backward() const { return spec.direction == Direction::kBackward; }
  bool Has(const char* param) const { return params.contains(param); }
};

// The entries of the file. NOT_FOUND, or INVALID_ARGUMENT that names the entry.
absl::StatusOr<std::vector<NormCase>> LoadCases(const std::string& path);

// Operands of `rows` rows and the columns of the spec, by the recipes, rounded to the dtypes.
// REQUIRES: every recipe parses (LoadCases has checked that).
Operands MakeOperands(const NormCase& norm_case, const NormSpec& spec, int64_t rows);

}  // namespace normd

#endif  // NORMD_TESTS_CASES_NORM_CASE_H_
