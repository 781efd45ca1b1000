// The large tier: tensors of more than 2 GB, made on the device from one period of rows by copies
// that double, and compared there chunk by chunk.
#ifndef NORMD_TESTS_CASES_LARGE_CASES_H_
#define NORMD_TESTS_CASES_LARGE_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "tests/cases/norm_case.h"

namespace normd {

// Device memory that RunLargeCase allocates.
int64_t BytesNeeded(const NormCase& norm_case);

// Empty, or what went wrong.
std::vector<std::string> RunLargeCase(const NormCase& norm_case);

// Two rows that a stride of 2^31 elements separates, in and out.
std::vector<std::string> RunLongStrides(const NormCase& norm_case);
int64_t BytesOfLongStrides(const NormCase& norm_case);

}  // namespace normd

#endif  // NORMD_TESTS_CASES_LARGE_CASES_H_
