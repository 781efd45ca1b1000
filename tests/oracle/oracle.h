// The oracle: forward and backward of every op of NormSpec in float64, written from the formulas of
// kernels/README.md, with the tolerance of each result (bounded.h). Slow and plain; linked into
// tests only. Definitions where the formulas leave a choice:
//
// - residual: t is rounded to the dtype, and statistics are those of the rounded t.
// - round_before_weight: u and dweight use round(h); dx and the sums in it use h
// (straight-through).
// - weight absent: factor 1, whatever the offset.
// - LayerNorm of one element a group: h = 0, whatever statistics were saved.
// - backward with a fused residual add: x is residual_out; dx and dresidual are the same numbers.
#ifndef NORMD_TESTS_ORACLE_ORACLE_H_
#define NORMD_TESTS_ORACLE_ORACLE_H_

#include <cstdint>
#include <vector>

#include "kernels/norm_spec.h"

namespace normd {

// Operands as dense row-major doubles that hold exactly what the tensors hold. Those that the spec
// does not have are empty.
struct Operands {
  int64_t rows = 0;
  float eps = 0;
  std::vector<double> x, z, residual, dy, dresidual_out;  // [rows, width]
  std::vector<double> weight, bias;                       // [width]
  std::vector<double> mean, rstd;                         // [rows, groups]
};

// One output: what is right before the rounding to the output's dtype, and by how much a backend
// may miss it before that rounding.
struct Reference {
  std::vector<double> value;
  std::vector<double> error;
};

// Outputs of the direction; those of the other one and those that the spec cannot have are empty.
// Outputs that the spec can have and does not want are computed all the same.
struct Results {
  Reference y, mean, rstd, residual_out;
  Reference dx, dz, dweight, dbias, dresidual;
};

// REQUIRES: Validate(spec).ok(), operands as the spec says.
Results RunOracle(const NormSpec& spec, const Operands& operands);

}  // namespace normd

#endif  // NORMD_TESTS_ORACLE_ORACLE_H_
