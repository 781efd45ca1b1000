// Accounting: nothing of norm_cases.json is left out silently.
#ifndef NORMD_TESTS_CASES_CASE_ACCOUNTING_H_
#define NORMD_TESTS_CASES_CASE_ACCOUNTING_H_

#include <vector>

#include "tests/cases/norm_case.h"

namespace normd {

// Whether the case is not one of a backend, but of the wire or of a running server.
bool RunsElsewhere(const NormCase& norm_case);

// Registers the test Cases.EachRunsSomewhere. `cases` must outlive the tests.
void RegisterAccounting(const std::vector<NormCase>& cases);

}  // namespace normd

#endif  // NORMD_TESTS_CASES_CASE_ACCOUNTING_H_
