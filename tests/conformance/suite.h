// The suite's frame: which backend is under test, and how much of the suite runs.
//
// An executable is one call of RunSuite with a factory. Flags, before or after GoogleTest's:
//   --points=full|reduced  full: every conformance point. reduced: few, small ones, for sanitizers.
//   --repeats=N            runs whose bits must agree (default 100, reduced 5).
#ifndef NORMD_TESTS_CONFORMANCE_SUITE_H_
#define NORMD_TESTS_CONFORMANCE_SUITE_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/backend.h"
#include "tests/conformance/launcher.h"

namespace normd {

// Makes a backend. Different indexes are different devices where the machine has several.
using BackendFactory = std::function<absl::StatusOr<std::unique_ptr<Backend>>(int index)>;

struct SuiteOptions {
  int points = 2400;
  int64_t max_elements = int64_t{1} << 17;  // of one point
  int repeats = 100;
  bool reduced = false;
};

// Parses flags, makes the backend, runs all tests that are linked in; the exit code.
int RunSuite(int argc, char** argv, BackendFactory factory);

const SuiteOptions& Options();
// The backend of index 0, made once.
Backend& BackendUnderTest();
Launcher& SharedLauncher();
// Another backend of the same kind.
absl::StatusOr<std::unique_ptr<Backend>> AnotherBackend(int index);

// Counts conformance points that are checked inside a test; the total is printed at the end.
void CountPoints(int64_t count);

}  // namespace normd

#endif  // NORMD_TESTS_CONFORMANCE_SUITE_H_
