// Period: the rows that a point's tensors are made of, again and again. Random rows fill gigabytes
// quickly this way, and what is right for all of them follows from the oracle's results for these.
//
// Row r of a segment is row r % rows() of the period; every segment starts at row 0 of it.
#ifndef NORMD_TESTS_BENCH_KERNEL_PERIOD_H_
#define NORMD_TESTS_BENCH_KERNEL_PERIOD_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/norm_spec.h"
#include "tests/bench/kernel/tensors.h"
#include "tests/oracle/oracle.h"

namespace normd {

class Period {
 public:
  // Elements of one tensor, at most, unless kMinRows rows are more.
  static constexpr int64_t kMaxElements = int64_t{1} << 16;
  static constexpr int64_t kMinRows = 4;

  // Normal numbers from `seed`: x, z and gradients around 0, weights around 1. Statistics that the
  // spec reads are those of the rows, in fp32.
  Period(const NormSpec& spec, int64_t segment_rows, uint32_t seed);

  int64_t rows() const { return operands_.rows; }
  float eps() const { return operands_.eps; }
  const Operands& operands() const { return operands_; }
  // The first `rows` rows.
  Operands Prefix(const NormSpec& spec, int64_t rows) const;
  // The rows of an input as they lie in memory: one row for a parameter. Empty for an output.
  const std::vector<std::byte>& bytes(TensorId id) const { return bytes_[static_cast<size_t>(id)]; }

 private:
  void MakeOperands(const NormSpec& spec, uint32_t seed);

  Operands operands_;
  std::array<std::vector<std::byte>, kTensors> bytes_;
};

}  // namespace normd

#endif  // NORMD_TESTS_BENCH_KERNEL_PERIOD_H_
