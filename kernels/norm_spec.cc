#include "kernels/norm_spec.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "kernels/field_error.h"

namespace normd {
namespace {

absl::Status ValidateShape(const NormSpec& spec) {
  if (spec.width < 1 || spec.width > kMaxWidth) {
    return FieldError("x.shape", absl::StrCat("the last dimension is ", spec.width,
                                              "; a width is 1 to ", kMaxWidth));
  }
  if (spec.group < 1 || spec.width % spec.group != 0) {
    return FieldError("op.group_size",
                      absl::StrCat(spec.group, " does not divide the width ", spec.width));
  }
  if (!std::isfinite(spec.weight_offset)) {
    return FieldError("op.weight_offset", "is not finite");
  }
  return absl::OkStatus();
}

absl::Status ValidateGate(const NormSpec& spec) {
  if (spec.has_gate() && spec.gate_order == GateOrder::kNone) {
    return FieldError("op.gate_order", "is required with a gate");
  }
  if (!spec.has_gate() && spec.gate_order != GateOrder::kNone) {
    return FieldError("op.gate_order", "is given without a gate");
  }
  if (spec.has_residual && spec.gate_order == GateOrder::kGateThenNorm) {
    return FieldError("residual", "cannot be combined with GATE_THEN_NORM");
  }
  return absl::OkStatus();
}

absl::Status ValidateForward(const NormSpec& spec) {
  if (spec.want_dx || spec.want_dz || spec.want_dweight || spec.want_dbias || spec.want_dresidual) {
    return FieldError("dx", "gradients are outputs of backward");
  }
  if (!spec.want_y && !spec.want_mean && !spec.want_rstd && !spec.want_residual_out) {
    return FieldError("y", "no output is wanted");
  }
  if (spec.want_mean && spec.kind == NormKind::kRmsNorm) {
    return FieldError("mean", "RMSNorm has no mean");
  }
  if (spec.want_residual_out && !spec.has_residual) {
    return FieldError("residual_out", "is wanted without a residual");
  }
  if (spec.has_dresidual_out) return FieldError("dresidual_out", "is an input of backward");
  if (spec.has_statistics) return FieldError("rstd", "is an input of backward");
  return absl::OkStatus();
}

absl::Status ValidateParameterGradients(const NormSpec& spec) {
  const auto fits = [](DataType gradient, DataType parameter) {
    return gradient == parameter || gradient == DataType::kFloat32;
  };
  if (spec.want_dweight && !spec.has_weight) {
    return FieldError("dweight", "is wanted without a weight");
  }
  if (spec.want_dbias && !spec.has_bias) return FieldError("dbias", "is wanted without a bias");
  if (spec.want_dweight && !fits(spec.dweight_dtype, spec.weight_dtype)) {
    return FieldError("dweight.dtype", absl::StrCat("is ", Name(spec.dweight_dtype), "; it is ",
                                                    Name(spec.weight_dtype), " or float32"));
  }
  if (spec.want_dbias && !fits(spec.dbias_dtype, spec.bias_dtype)) {
    return FieldError("dbias.dtype", absl::StrCat("is ", Name(spec.dbias_dtype), "; it is ",
                                                  Name(spec.bias_dtype), " or float32"));
  }
  return absl::OkStatus();
}

absl::Status ValidateBackward(const NormSpec& spec) {
  if (spec.want_y || spec.want_mean || spec.want_rstd || spec.want_residual_out) {
    return FieldError("y", "is an output of forward");
  }
  if (!spec.want_dx && !spec.want_dz && !spec.want_dweight && !spec.want_dbias &&
      !spec.want_dresidual) {
    return FieldError("dx", "no output is wanted");
  }
  if (spec.want_dz && !spec.has_gate()) return FieldError("dz", "is wanted without a gate");
  if (spec.want_dresidual && !spec.has_residual) {
    return FieldError("dresidual", "needs a fused residual add");
  }
  if (spec.has_dresidual_out && !spec.has_residual) {
    return FieldError("dresidual_out", "needs a fused residual add");
  }
  return ValidateParameterGradients(spec);
}

}  // namespace

absl::Status Validate(const NormSpec& spec) {
  if (absl::Status status = ValidateShape(spec); !status.ok()) return status;
  if (absl::Status status = ValidateGate(spec); !status.ok()) return status;
  return spec.direction == Direction::kForward ? ValidateForward(spec) : ValidateBackward(spec);
}

int64_t BytesMoved(const NormSpec& spec, int64_t rows) {
  const int64_t elements = rows * spec.width;
  const int64_t x_bytes = elements * SizeOf(spec.dtype);
  const int64_t z_bytes = elements * SizeOf(spec.z_dtype);
  const int64_t statistic_bytes = rows * spec.groups() * 4;
  int64_t bytes = x_bytes;
  if (spec.has_gate()) bytes += z_bytes;
  if (spec.has_weight) bytes += spec.width * SizeOf(spec.weight_dtype);
  if (spec.direction == Direction::kForward) {
    if (spec.has_bias) bytes += spec.width * SizeOf(spec.bias_dtype);
    if (spec.has_residual) bytes += x_bytes;
    bytes += x_bytes * (spec.want_y + spec.want_residual_out);
    bytes += statistic_bytes * (spec.want_mean + spec.want_rstd);
    return bytes;
  }
  bytes += elements * SizeOf(spec.dy_dtype);
  if (spec.has_bias && spec.want_dz) bytes += spec.width * SizeOf(spec.bias_dtype);
  if (spec.has_dresidual_out) bytes += x_bytes;
  if (spec.has_statistics) {
    bytes += statistic_bytes * (spec.kind == NormKind::kLayerNorm ? 2 : 1);
  }
  bytes += x_bytes * (spec.want_dx + spec.want_dresidual);
  if (spec.want_dz) bytes += z_bytes;
  if (spec.want_dweight) bytes += spec.width * SizeOf(spec.dweight_dtype);
  if (spec.want_dbias) bytes += spec.width * SizeOf(spec.dbias_dtype);
  return bytes;
}

const char* OpName(const NormSpec& spec) {
  if (spec.has_gate()) {
    return spec.kind == NormKind::kLayerNorm ? "gated_layer_norm" : "gated_rms_norm";
  }
  return spec.kind == NormKind::kLayerNorm ? "layer_norm" : "rms_norm";
}

const char* Name(Direction direction) {
  return direction == Direction::kForward ? "forward" : "backward";
}

}  // namespace normd
