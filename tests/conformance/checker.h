// Compares what a backend wrote with the oracle.
#ifndef NORMD_TESTS_CONFORMANCE_CHECKER_H_
#define NORMD_TESTS_CONFORMANCE_CHECKER_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "kernels/norm_spec.h"
#include "tests/conformance/launcher.h"
#include "tests/oracle/oracle.h"

namespace normd {

// Empty, or one line a fault: memory faults, outputs missing or of the wrong size, and of each
// output the worst element with its row, column, value, bound and count.
std::vector<std::string> FaultsOf(const NormSpec& spec, const Operands& operands,
                                  const Results& right, const SegmentOutcome& outcome);

// The slots whose bits differ.
std::vector<std::string> BitDifferences(const SegmentOutcome& a, const SegmentOutcome& b);

// One a line, for a failure text.
std::string Lines(absl::Span<const std::string> faults);

}  // namespace normd

#endif  // NORMD_TESTS_CONFORMANCE_CHECKER_H_
