// Verify: runs a workload's first set once on poisoned outputs and holds the results against the
// oracle, so that no wrong kernel is ever timed. Not the proof that a kernel is right: that is the
// conformance suite's.
#ifndef NORMD_TESTS_BENCH_KERNEL_VERIFY_H_
#define NORMD_TESTS_BENCH_KERNEL_VERIFY_H_

#include "absl/status/status.h"
#include "kernels/backend.h"
#include "tests/bench/kernel/period.h"
#include "tests/bench/kernel/workload.h"

namespace normd {

// DATA_LOSS that names the tensor, row and column of the first wrong element. Looks at sampled
// rows of every [rows, columns] output, and at the parameter gradients of the first and the last
// segment. Waits.
absl::Status Verify(const Workload& workload, const Period& period, Backend& backend,
                    Stream& stream);

}  // namespace normd

#endif  // NORMD_TESTS_BENCH_KERNEL_VERIFY_H_
