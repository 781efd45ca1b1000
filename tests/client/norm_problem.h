// NormProblem: operands of one op in the bytes of their dtypes, and what is right for them.
#ifndef NORMD_TESTS_CLIENT_NORM_PROBLEM_H_
#define NORMD_TESTS_CLIENT_NORM_PROBLEM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "client/cpp/calls.h"
#include "kernels/norm_spec.h"
#include "tests/oracle/oracle.h"

namespace normd {

// Random operands for a spec; the views in the calls are of this object's memory.
class NormProblem {
 public:
  NormProblem(const NormSpec& spec, int64_t rows, uint32_t seed);
  NormProblem(const NormProblem&) = delete;
  NormProblem& operator=(const NormProblem&) = delete;

  // Calls that want every output that the spec wants.
  ForwardCall Forward() const;
  BackwardCall Backward() const;

  // Empty when `tensor` is right; otherwise what is wrong with its first wrong element.
  std::string Check(DataType dtype, const Reference& reference, const Tensor& tensor) const;

  const Results& right() const { return right_; }

 private:
  struct Values {
    std::vector<double> numbers;
    std::vector<uint8_t> bytes;
  };

  Values Random(DataType dtype, int64_t count, double center);
  Operand Rows(DataType dtype, const Values& values) const;
  Operand Column(DataType dtype, const Values& values) const;
  NormOptions Options() const;

  const NormSpec spec_;
  const int64_t rows_;
  uint32_t state_;
  Values x_, z_, residual_, dy_, dresidual_out_, weight_, bias_;
  Results right_;
};

}  // namespace normd

#endif  // NORMD_TESTS_CLIENT_NORM_PROBLEM_H_
