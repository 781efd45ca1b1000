#include "tests/bench/kernel/tensors.h"

namespace normd {

TensorTable TensorsOf(const NormSpec& spec) {
  const bool forward = spec.direction == Direction::kForward;
  const bool saved_mean = spec.has_statistics && spec.kind == NormKind::kLayerNorm;
  const auto rows = [&](const char* name, bool present, DataType dtype, bool output) {
    return Tensor{name, dtype, present ? spec.width : 0, false, output};
  };
  const auto statistic = [&](const char* name, bool present, bool output) {
    return Tensor{name, DataType::kFloat32, present ? spec.groups() : 0, false, output};
  };
  const auto parameter = [&](const char* name, bool present, DataType dtype, bool output) {
    return Tensor{name, dtype, present ? spec.width : 0, true, output};
  };
  return {
      rows("x", true, spec.dtype, false),
      rows("z", spec.has_gate(), spec.z_dtype, false),
      rows("residual", forward && spec.has_residual, spec.dtype, false),
      rows("dy", !forward, spec.dy_dtype, false),
      rows("dresidual_out", spec.has_dresidual_out, spec.dtype, false),
      parameter("weight", spec.has_weight, spec.weight_dtype, false),
      parameter("bias", spec.has_bias, spec.bias_dtype, false),
      statistic("mean", !forward && saved_mean, false),
      statistic("rstd", !forward && spec.has_statistics, false),
      rows("y", spec.want_y, spec.dtype, true),
      rows("residual_out", spec.want_residual_out, spec.dtype, true),
      statistic("mean", spec.want_mean, true),
      statistic("rstd", spec.want_rstd, true),
      rows("dx", spec.want_dx, spec.dtype, true),
      rows("dz", spec.want_dz, spec.z_dtype, true),
      parameter("dweight", spec.want_dweight, spec.dweight_dtype, true),
      parameter("dbias", spec.want_dbias, spec.dbias_dtype, true),
  };
}

}  // namespace normd
