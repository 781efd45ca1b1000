// Registers one test a case, named by its id, and runs them on a backend.
//
// Flags beside those of the conformance suite (tests/conformance/suite.h):
//   --cases=PATH  the file of cases; default: norm_cases.json beside the executable.
//   --large       the large tier instead of the others, as far as the device's memory goes.
#ifndef NORMD_TESTS_CASES_CASES_MAIN_H_
#define NORMD_TESTS_CASES_CASES_MAIN_H_

#include "tests/conformance/suite.h"

namespace normd {

// The exit code of the process.
int RunCases(int argc, char** argv, BackendFactory factory);

}  // namespace normd

#endif  // NORMD_TESTS_CASES_CASES_MAIN_H_
