// Compares outputs with the expected values of a case, and with the oracle.
#ifndef NORMD_TESTS_CASES_EXPECTED_H_
#define NORMD_TESTS_CASES_EXPECTED_H_

#include <string>
#include <vector>

#include "tests/cases/norm_case.h"
#include "tests/conformance/launcher.h"
#include "tests/oracle/oracle.h"

namespace normd {

// |got - ref| <= abs + rel * |ref|, plus half an ulp of the output's dtype; NaN meets NaN, an
// infinity the same infinity. One line for each expected entry that does not hold.
std::vector<std::string> ExpectedFaults(const NormCase& norm_case, const SegmentOutcome& outcome);

// Whether one value meets that rule.
bool MeetsRule(const NormCase& norm_case, DataType dtype, double right, double got);

// A number of the file: 1.5, "nan", "inf", "-inf".
double NumberOf(const nlohmann::json& value);

// What the oracle says of all rows. Of a case whose rows repeat it computes one period, and sums
// the parameter gradients from its rows.
Results RunOracle(const NormCase& norm_case, const NormSpec& spec, const Operands& operands);

}  // namespace normd

#endif  // NORMD_TESTS_CASES_EXPECTED_H_
