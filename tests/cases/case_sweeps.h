// Sweeps: widths and rows that a case names beside its own, each compared with the oracle.
#ifndef NORMD_TESTS_CASES_CASE_SWEEPS_H_
#define NORMD_TESTS_CASES_CASE_SWEEPS_H_

#include <string>
#include <vector>

#include "tests/cases/norm_case.h"

namespace normd {

// Empty when the case has no sweep or all of it is right.
std::vector<std::string> SweepFaults(const NormCase& norm_case);

}  // namespace normd

#endif  // NORMD_TESTS_CASES_CASE_SWEEPS_H_
