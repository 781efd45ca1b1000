// ExactGroup: one group of one row in float64, one element after the other. For groups whose sums
// leave the range in which fp32 is accurate: values beyond 1.8e19, whose squares overflow, values
// below 1e-17 without an eps, whose squares underflow, and those that hold NaN or Inf.
#ifndef NORMD_KERNELS_CPU_EXACT_GROUP_H_
#define NORMD_KERNELS_CPU_EXACT_GROUP_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "kernels/norm_spec.h"

namespace normd {

// Consecutive columns of a group, in fp32. Operands that the op lacks are null.
struct GroupChunk {
  int64_t columns = 0;
  const float* t = nullptr;       // except GATE_THEN_NORM, where x and z give it
  const float* x = nullptr;       // GATE_THEN_NORM
  const float* z = nullptr;       // with a gate
  const float* weight = nullptr;  // w + o
  const float* dy = nullptr;
  const float* dresidual_out = nullptr;
};

class ExactGroup {
 public:
  // Calls its argument for every chunk of the group, in order.
  using Chunks = absl::FunctionRef<void(absl::FunctionRef<void(const GroupChunk&)>)>;

  ExactGroup(const NormSpec& spec, float eps);

  // Statistics of the group, or saved ones; before everything below.
  void TakeStatistics(Chunks chunks);
  void UseStatistics(float mean, float rstd);
  // c1 and c2; before Differentiate.
  void TakeGradientSums(Chunks chunks);

  float mean() const { return static_cast<float>(mean_); }
  float rstd() const { return static_cast<float>(rstd_); }

  // h of a chunk of the group.
  void Normalize(const GroupChunk& chunk, float* h) const;
  // dx (dresidual_out included) of a chunk; dz too, unless null, with GATE_THEN_NORM.
  void Differentiate(const GroupChunk& chunk, float* dx, float* dz) const;

 private:
  double Value(const GroupChunk& chunk, int64_t i) const;     // t
  double Gradient(const GroupChunk& chunk, int64_t i) const;  // g

  const NormSpec& spec_;
  const double eps_;
  const double inverse_size_;
  double mean_ = 0;
  double rstd_ = 0;
  double c1_ = 0;
  double c2_ = 0;
};

}  // namespace normd

#endif  // NORMD_KERNELS_CPU_EXACT_GROUP_H_
