// The tensors of a launch by name, and how much memory each takes.
#ifndef NORMD_TESTS_BENCH_KERNEL_TENSORS_H_
#define NORMD_TESTS_BENCH_KERNEL_TENSORS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/data_type.h"
#include "kernels/norm_spec.h"

namespace normd {

enum class TensorId : uint8_t {
  kX,
  kZ,
  kResidual,
  kDy,
  kDresidualOut,
  kWeight,
  kBias,
  kMean,
  kRstd,
  // Outputs from here.
  kY,
  kResidualOut,
  kMeanOut,
  kRstdOut,
  kDx,
  kDz,
  kDweight,
  kDbias,
};
inline constexpr size_t kTensors = 17;

struct Tensor {
  const char* name = "";
  DataType dtype = DataType::kFloat32;
  int64_t columns = 0;       // 0: the spec does not have it
  bool per_segment = false;  // one row a segment (parameters), else one a row of x
  bool output = false;

  bool present() const { return columns > 0; }
  int64_t row_bytes() const { return columns * SizeOf(dtype); }
};

using TensorTable = std::array<Tensor, kTensors>;

// Indexed by TensorId. REQUIRES: the spec is one of SpecOf (dresidual is never wanted).
TensorTable TensorsOf(const NormSpec& spec);

}  // namespace normd

#endif  // NORMD_TESTS_BENCH_KERNEL_TENSORS_H_
