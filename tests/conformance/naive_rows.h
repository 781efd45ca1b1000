// NaiveRows: one segment of NaiveBackend.
#ifndef NORMD_TESTS_CONFORMANCE_NAIVE_ROWS_H_
#define NORMD_TESTS_CONFORMANCE_NAIVE_ROWS_H_

#include <cstdint>
#include <vector>

#include "kernels/norm_spec.h"
#include "kernels/segment.h"
#include "tests/conformance/naive_backend.h"

namespace normd {

class NaiveRows {
 public:
  // `rows_before`: rows of the launch before this segment, which a right backend does not ask for.
  NaiveRows(const NormSpec& spec, const Segment& segment, Fault fault, int64_t rows_before);

  void Run();

 private:
  bool Has(Fault fault) const { return fault_ == fault; }
  bool backward() const { return spec_.direction == Direction::kBackward; }
  bool gates_before() const { return order_ == GateOrder::kGateThenNorm; }
  bool gates_after() const { return order_ == GateOrder::kNormThenGate; }

  double Load(DataType dtype, const void* data, int64_t stride, int64_t row, int64_t column) const;
  void Store(DataType dtype, void* data, int64_t stride, int64_t row, int64_t column, double value);

  void ReadRow(int64_t row);
  void Statistics(int64_t row, int64_t first, int64_t size);
  double Variance(int64_t first, int64_t size) const;
  double Sum(const std::vector<double>& terms) const;
  void Forward(int64_t row, int64_t first, int64_t size);
  void Backward(int64_t row, int64_t first, int64_t size);
  void WriteParameterGradients();

  double Weight(int64_t column) const;
  double Affine(int64_t column, double h) const;
  double Activation(double z) const;
  double Slope(double z) const;

  const NormSpec& spec_;
  const Segment& s_;
  const Fault fault_;
  const GateOrder order_;
  const int64_t rows_before_;
  int64_t group_;  // columns a group, as this backend sees it

  // Of the row at hand.
  std::vector<double> x_, z_, t_, dy_, unrounded_;
  double mean_ = 0;
  double rstd_ = 0;
  bool leaked_nan_ = false;

  // Sums over rows, in two strips so that their order can depend on where the strips are cut.
  std::vector<float> dweight_[2], dbias_[2];
};

}  // namespace normd

#endif  // NORMD_TESTS_CONFORMANCE_NAIVE_ROWS_H_
