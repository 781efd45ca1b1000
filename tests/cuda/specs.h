// Specs for the tests of this folder.
#ifndef NORMD_TESTS_CUDA_SPECS_H_
#define NORMD_TESTS_CUDA_SPECS_H_

#include <cstdint>

#include "kernels/norm_spec.h"

namespace normd::cuda {

inline NormSpec ForwardSpec(int64_t width, DataType dtype = DataType::kBFloat16) {
  NormSpec spec;
  spec.width = width;
  spec.group = width;
  spec.dtype = spec.z_dtype = spec.dy_dtype = dtype;
  spec.want_y = true;
  return spec;
}

inline NormSpec BackwardSpec(int64_t width, DataType dtype = DataType::kBFloat16) {
  NormSpec spec = ForwardSpec(width, dtype);
  spec.direction = Direction::kBackward;
  spec.want_y = false;
  spec.has_weight = spec.has_bias = true;
  spec.want_dx = spec.want_dweight = spec.want_dbias = true;
  return spec;
}

inline NormSpec Gated(NormSpec spec, GateOrder order) {
  spec.gate = GateActivation::kSilu;
  spec.gate_order = order;
  return spec;
}

}  // namespace normd::cuda

#endif  // NORMD_TESTS_CUDA_SPECS_H_
