#include "tests/bench/kernel/period.h"

#include <algorithm>
#include <random>

#include "tests/oracle/element.h"

namespace normd {
namespace {

class Normal {
 public:
  explicit Normal(uint32_t seed) : engine_(seed) {}

  std::vector<double> operator()(DataType dtype, int64_t count, double mean, double deviation) {
    std::normal_distribution<double> distribution(mean, deviation);
    std::vector<double> values(static_cast<size_t>(count));
    for (double& value : values) value = distribution(engine_);
    return RoundedTo(dtype, std::move(values));
  }

 private:
  std::mt19937 engine_;
};

std::vector<std::byte> Encoded(DataType dtype, const std::vector<double>& values) {
  const auto size = static_cast<size_t>(SizeOf(dtype));
  std::vector<std::byte> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) StoreElement(dtype, values[i], &bytes[i * size]);
  return bytes;
}

// Forward of the rows that backward reads: only its statistics are of interest.
NormSpec StatisticsSpec(const NormSpec& backward) {
  NormSpec spec;
  spec.kind = backward.kind;
  spec.gate = backward.gate;
  spec.gate_order = backward.gate_order;
  spec.width = backward.width;
  spec.group = backward.group;
  spec.dtype = backward.dtype;
  spec.z_dtype = backward.z_dtype;
  spec.want_rstd = true;
  return spec;
}

}  // namespace

Period::Period(const NormSpec& spec, int64_t segment_rows, uint32_t seed) {
  operands_.rows = std::min(segment_rows, std::max(kMinRows, kMaxElements / spec.width));
  MakeOperands(spec, seed);
  const Operands& o = operands_;
  const std::array<const std::vector<double>*, 9> inputs = {
      &o.x, &o.z, &o.residual, &o.dy, &o.dresidual_out, &o.weight, &o.bias, &o.mean, &o.rstd};
  const TensorTable tensors = TensorsOf(spec);
  for (size_t i = 0; i < inputs.size(); ++i) bytes_[i] = Encoded(tensors[i].dtype, *inputs[i]);
}

void Period::MakeOperands(const NormSpec& spec, uint32_t seed) {
  Normal normal(seed);
  Operands& o = operands_;
  const int64_t elements = o.rows * spec.width;
  const bool forward = spec.direction == Direction::kForward;
  o.eps = 1e-5f;
  o.x = normal(spec.dtype, elements, 0.25, 1);
  if (spec.has_gate()) o.z = normal(spec.z_dtype, elements, 0, 1);
  if (forward && spec.has_residual) o.residual = normal(spec.dtype, elements, 0, 1);
  if (!forward) o.dy = normal(spec.dy_dtype, elements, 0, 1);
  if (spec.has_dresidual_out) o.dresidual_out = normal(spec.dtype, elements, 0, 1);
  if (spec.has_weight) o.weight = normal(spec.weight_dtype, spec.width, 1, 0.25);
  if (spec.has_bias) o.bias = normal(spec.bias_dtype, spec.width, 0, 0.25);
  if (!spec.has_statistics) return;
  const Results results = RunOracle(StatisticsSpec(spec), o);
  if (spec.kind == NormKind::kLayerNorm) {
    o.mean = RoundedTo(DataType::kFloat32, results.mean.value);
  }
  o.rstd = RoundedTo(DataType::kFloat32, results.rstd.value);
}

Operands Period::Prefix(const NormSpec& spec, int64_t rows) const {
  Operands prefix = operands_;
  prefix.rows = rows;
  const auto cut = [&](std::vector<double>& values, int64_t columns) {
    if (!values.empty()) values.resize(static_cast<size_t>(rows * columns));
  };
  for (auto* matrix : {&prefix.x, &prefix.z, &prefix.residual, &prefix.dy, &prefix.dresidual_out}) {
    cut(*matrix, spec.width);
  }
  cut(prefix.mean, spec.groups());
  cut(prefix.rstd, spec.groups());
  return prefix;
}

}  // namespace normd
