#include "kernels/cuda/encode.h"

#include <cstdint>

namespace normd::cuda {
namespace {

constexpr int64_t kAccessBytes = 16;

bool AlignedPointer(const void* data) {
  return reinterpret_cast<uintptr_t>(data) % kAccessBytes == 0;
}

// An absent operand is null, which is aligned.
template <typename Rows>
bool AlignedOperand(const Rows& rows, DataType dtype, int64_t row_count) {
  if (!AlignedPointer(rows.data)) return false;
  return rows.data == nullptr || row_count <= 1 ||
         rows.row_stride % kAccessBytes * SizeOf(dtype) % kAccessBytes == 0;
}

Input Encode(const ConstRows& rows) { return {rows.data, rows.row_stride}; }
Output Encode(const MutableRows& rows) { return {rows.data, rows.row_stride}; }

}  // namespace

bool AlignedRows(const NormSpec& spec, const Plan& plan, const Segment& s) {
  if (spec.group % plan.vector != 0) return false;
  return AlignedOperand(s.x, spec.dtype, s.rows) && AlignedOperand(s.z, spec.z_dtype, s.rows) &&
         AlignedOperand(s.residual, spec.dtype, s.rows) &&
         AlignedOperand(s.dy, spec.dy_dtype, s.rows) &&
         AlignedOperand(s.dresidual_out, spec.dtype, s.rows) &&
         AlignedOperand(s.y, spec.dtype, s.rows) &&
         AlignedOperand(s.residual_out, spec.dtype, s.rows) &&
         AlignedOperand(s.dx, spec.dtype, s.rows) && AlignedOperand(s.dz, spec.z_dtype, s.rows) &&
         AlignedOperand(s.dresidual, spec.dtype, s.rows);
}

bool AlignedParameters(const NormSpec& spec, const Plan& plan, const Segment& s) {
  return spec.group % plan.vector == 0 && AlignedPointer(s.weight) && AlignedPointer(s.bias);
}

LaunchHeader EncodeHeader(const NormSpec& spec, const Plan& plan) {
  LaunchHeader header = {};
  header.geometry = plan.geometry;
  header.width = static_cast<int32_t>(spec.width);
  header.group = static_cast<int32_t>(spec.group);
  header.groups = static_cast<int32_t>(spec.groups());
  header.inverse_group = 1.0f / static_cast<float>(spec.group);
  header.weight_offset = spec.weight_offset;
  header.dtype = spec.dtype;
  header.z_dtype = spec.z_dtype;
  header.dy_dtype = spec.dy_dtype;
  header.weight_dtype = spec.weight_dtype;
  header.bias_dtype = spec.bias_dtype;
  header.silu = spec.gate == GateActivation::kSilu;
  header.full = plan.full;
  header.has_weight = spec.has_weight;
  header.has_bias = spec.has_bias;
  header.has_residual = spec.has_residual;
  header.has_dresidual_out = spec.has_dresidual_out;
  // One column is its own mean: h is 0 whatever was saved.
  const bool own_mean = spec.kind == NormKind::kLayerNorm && spec.group == 1;
  header.has_statistics = spec.has_statistics && !own_mean;
  header.round_before_weight = spec.round_before_weight;
  header.want_y = spec.want_y;
  header.want_mean = spec.want_mean;
  header.want_rstd = spec.want_rstd;
  header.want_residual_out = spec.want_residual_out;
  header.want_dx = spec.want_dx;
  header.want_dz = spec.want_dz;
  header.want_dweight = spec.want_dweight;
  header.want_dbias = spec.want_dbias;
  header.want_dresidual = spec.want_dresidual;
  return header;
}

ForwardSegment EncodeForward(const NormSpec& spec, const Plan& plan, const Segment& s) {
  ForwardSegment out = {};
  out.rows = s.rows;
  out.eps = s.eps;
  out.strips = StripsOf(plan, s.rows);
  out.aligned_rows = AlignedRows(spec, plan, s);
  out.aligned_parameters = AlignedParameters(spec, plan, s);
  out.x = Encode(s.x);
  out.z = Encode(s.z);
  out.residual = Encode(s.residual);
  out.y = Encode(s.y);
  out.residual_out = Encode(s.residual_out);
  out.weight = s.weight;
  out.bias = s.bias;
  out.mean = s.mean_out;
  out.rstd = s.rstd_out;
  return out;
}

BackwardSegment EncodeBackward(const NormSpec& spec, const Plan& plan, const Segment& s) {
  BackwardSegment out = {};
  out.rows = s.rows;
  out.eps = s.eps;
  out.strips = StripsOf(plan, s.rows);
  out.aligned_rows = AlignedRows(spec, plan, s);
  out.aligned_parameters = AlignedParameters(spec, plan, s);
  out.x = Encode(s.x);
  out.z = Encode(s.z);
  out.dy = Encode(s.dy);
  out.dresidual_out = Encode(s.dresidual_out);
  out.dx = Encode(s.dx);
  out.dz = Encode(s.dz);
  out.dresidual = Encode(s.dresidual);
  out.weight = s.weight;
  out.bias = s.bias;
  out.mean = s.mean;
  out.rstd = s.rstd;
  return out;
}

}  // namespace normd::cuda
