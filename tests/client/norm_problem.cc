#include "tests/client/norm_problem.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "tests/oracle/bounded.h"
#include "tests/oracle/element.h"

namespace normd {
namespace {

constexpr float kEps = 1e-5F;

Output Wanted(bool wanted) { return wanted ? Output::Owned() : Output(); }

}  // namespace

NormProblem::NormProblem(const NormSpec& spec, int64_t rows, uint32_t seed)
    : spec_(spec), rows_(rows), state_(seed) {
  const int64_t elements = rows * spec.width;
  x_ = Random(spec.dtype, elements, 0.5);
  if (spec.has_gate()) z_ = Random(spec.z_dtype, elements, 0);
  if (spec.has_weight) weight_ = Random(spec.weight_dtype, spec.width, 1);
  if (spec.has_bias) bias_ = Random(spec.bias_dtype, spec.width, 0);
  if (spec.direction == Direction::kBackward) dy_ = Random(spec.dy_dtype, elements, 0);
  if (spec.has_residual && spec.direction == Direction::kForward) {
    residual_ = Random(spec.dtype, elements, 0);
  }
  if (spec.has_dresidual_out) dresidual_out_ = Random(spec.dtype, elements, 0);
  Operands operands;
  operands.rows = rows;
  operands.eps = kEps;
  operands.x = x_.numbers;
  operands.z = z_.numbers;
  operands.residual = residual_.numbers;
  operands.dy = dy_.numbers;
  operands.dresidual_out = dresidual_out_.numbers;
  operands.weight = weight_.numbers;
  operands.bias = bias_.numbers;
  right_ = RunOracle(spec, operands);
}

ForwardCall NormProblem::Forward() const {
  ForwardCall call;
  call.op = Options();
  call.x = Rows(spec_.dtype, x_);
  if (spec_.has_gate()) call.z = Rows(spec_.z_dtype, z_);
  if (spec_.has_weight) call.weight = Column(spec_.weight_dtype, weight_);
  if (spec_.has_bias) call.bias = Column(spec_.bias_dtype, bias_);
  if (spec_.has_residual) call.residual = Rows(spec_.dtype, residual_);
  call.y = Wanted(spec_.want_y);
  call.mean = Wanted(spec_.want_mean);
  call.rstd = Wanted(spec_.want_rstd);
  call.residual_out = Wanted(spec_.want_residual_out);
  return call;
}

BackwardCall NormProblem::Backward() const {
  BackwardCall call;
  call.op = Options();
  call.x = Rows(spec_.dtype, x_);
  call.dy = Rows(spec_.dy_dtype, dy_);
  if (spec_.has_gate()) call.z = Rows(spec_.z_dtype, z_);
  if (spec_.has_weight) call.weight = Column(spec_.weight_dtype, weight_);
  if (spec_.has_bias) call.bias = Column(spec_.bias_dtype, bias_);
  if (spec_.has_dresidual_out) call.dresidual_out = Rows(spec_.dtype, dresidual_out_);
  call.dx = Wanted(spec_.want_dx);
  call.dz = Wanted(spec_.want_dz);
  call.dweight = Wanted(spec_.want_dweight);
  call.dbias = Wanted(spec_.want_dbias);
  call.dresidual = Wanted(spec_.want_dresidual);
  if (spec_.dweight_dtype != spec_.weight_dtype) {
    call.parameter_gradient_dtype = spec_.dweight_dtype;
  }
  return call;
}

std::string NormProblem::Check(DataType dtype, const Reference& reference,
                               const Tensor& tensor) const {
  if (tensor.dtype != dtype) return absl::StrCat("dtype ", Name(tensor.dtype));
  const auto size = static_cast<size_t>(SizeOf(dtype));
  if (tensor.bytes.size() != reference.value.size() * size) {
    return absl::StrCat(tensor.bytes.size(), " bytes for ", reference.value.size(), " elements");
  }
  for (size_t i = 0; i < reference.value.size(); ++i) {
    const double got = LoadElement(dtype, tensor.bytes.data() + i * size);
    if (!Accepts(dtype, reference.value[i], reference.error[i], got)) {
      return absl::StrCat("element ", i, " is ", got, ", right is ", reference.value[i], " +- ",
                          reference.error[i]);
    }
  }
  return "";
}

NormProblem::Values NormProblem::Random(DataType dtype, int64_t count, double center) {
  std::mt19937 engine(state_++);
  std::normal_distribution<double> normal(center, 1);
  Values values;
  for (int64_t i = 0; i < count; ++i) values.numbers.push_back(normal(engine));
  values.numbers = RoundedTo(dtype, std::move(values.numbers));
  const auto size = static_cast<size_t>(SizeOf(dtype));
  values.bytes.resize(values.numbers.size() * size);
  for (size_t i = 0; i < values.numbers.size(); ++i) {
    StoreElement(dtype, values.numbers[i], values.bytes.data() + i * size);
  }
  return values;
}

Operand NormProblem::Rows(DataType dtype, const Values& values) const {
  return View(dtype, {rows_, spec_.width}, values.bytes);
}

Operand NormProblem::Column(DataType dtype, const Values& values) const {
  return View(dtype, {spec_.width}, values.bytes);
}

NormOptions NormProblem::Options() const {
  NormOptions options;
  options.eps = kEps;
  options.group_size = spec_.group == spec_.width ? 0 : spec_.group;
  options.gate_activation = spec_.gate;
  options.gate_order = spec_.gate_order;
  options.weight_offset = spec_.weight_offset;
  options.round_before_weight = spec_.round_before_weight;
  options.path = spec_.path;
  return options;
}

}  // namespace normd
