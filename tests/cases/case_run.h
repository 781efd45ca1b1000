// CaseRun: runs one case of the unit or medium tier on a backend, in every way its params ask for.
#ifndef NORMD_TESTS_CASES_CASE_RUN_H_
#define NORMD_TESTS_CASES_CASE_RUN_H_

#include <string>
#include <vector>

#include "tests/cases/norm_case.h"

namespace normd {

// Empty, or what went wrong. Every case runs along each kernel path, in device and in staging
// memory, aligned and not; then come the ways that its params name.
std::vector<std::string> RunCase(const NormCase& norm_case);

}  // namespace normd

#endif  // NORMD_TESTS_CASES_CASE_RUN_H_
