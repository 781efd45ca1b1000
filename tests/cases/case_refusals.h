// Cases whose one right answer is a clear error.
#ifndef NORMD_TESTS_CASES_CASE_REFUSALS_H_
#define NORMD_TESTS_CASES_CASE_REFUSALS_H_

#include <string>
#include <vector>

#include "tests/cases/norm_case.h"

namespace normd {

bool MustBeRefused(const NormCase& norm_case);

// Empty when forward and backward are refused with the field that is wrong.
std::vector<std::string> RefusalFaults(const NormCase& norm_case);

}  // namespace normd

#endif  // NORMD_TESTS_CASES_CASE_REFUSALS_H_
