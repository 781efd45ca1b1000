// Elements of operands for each profile of axes.h, already rounded to the operand's dtype.
#ifndef NORMD_TESTS_CONFORMANCE_VALUES_H_
#define NORMD_TESTS_CONFORMANCE_VALUES_H_

#include <cstdint>
#include <vector>

#include "kernels/norm_spec.h"
#include "tests/conformance/axes.h"
#include "tests/conformance/random.h"

namespace normd {

// x and residual: [rows, width].
std::vector<double> InputValues(Values values, DataType dtype, int64_t rows, int64_t width,
                                Random& random);

// z. Backward keeps |z| where the gated gradient still fits into fp32.
std::vector<double> GateValues(Values values, const NormSpec& spec, int64_t rows, Random& random);

// Uniform in [low, high).
std::vector<double> PlainValues(DataType dtype, int64_t count, double low, double high,
                                Random& random);

}  // namespace normd

#endif  // NORMD_TESTS_CONFORMANCE_VALUES_H_
