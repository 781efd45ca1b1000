#include "client/cpp/request_fields.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "kernels/field_error.h"
#include "normd/v1/norm.pb.h"

namespace normd {
namespace {

std::optional<v1::GateActivation> ToWire(GateActivation activation) {
  switch (activation) {
    case GateActivation::kNone:
      return v1::GATE_ACTIVATION_UNSPECIFIED;  // with z the server asks for one
    case GateActivation::kSilu:
      return v1::GATE_ACTIVATION_SILU;
    case GateActivation::kSigmoid:
      return v1::GATE_ACTIVATION_SIGMOID;
  }
  return std::nullopt;
}

std::optional<v1::GateOrder> ToWire(GateOrder order) {
  switch (order) {
    case GateOrder::kNone:
      return v1::GATE_ORDER_UNSPECIFIED;
    case GateOrder::kNormThenGate:
      return v1::GATE_ORDER_NORM_THEN_GATE;
    case GateOrder::kGateThenNorm:
      return v1::GATE_ORDER_GATE_THEN_NORM;
  }
  return std::nullopt;
}

std::optional<v1::KernelPath> ToWire(KernelPath path) {
  switch (path) {
    case KernelPath::kAuto:
      return v1::KERNEL_PATH_AUTO;
    case KernelPath::kRowTiled:
      return v1::KERNEL_PATH_ROW_TILED;
    case KernelPath::kSingleRow:
      return v1::KERNEL_PATH_SINGLE_ROW;
  }
  return std::nullopt;
}

std::optional<v1::DataType> ToWire(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return v1::DATA_TYPE_FLOAT32;
    case DataType::kFloat16:
      return v1::DATA_TYPE_FLOAT16;
    case DataType::kBFloat16:
      return v1::DATA_TYPE_BFLOAT16;
  }
  return std::nullopt;
}

template <typename Enum>
absl::Status NoMember(const char* field, Enum value) {
  return FieldError(field, absl::StrCat(static_cast<int>(value), " is not a value of its enum"));
}

absl::Status SetOp(NormKind kind, const NormOptions& options, v1::NormOp& op) {
  const auto activation = ToWire(options.gate_activation);
  if (!activation) return NoMember("op.gate_activation", options.gate_activation);
  const auto order = ToWire(options.gate_order);
  if (!order) return NoMember("op.gate_order", options.gate_order);
  const auto path = ToWire(options.path);
  if (!path) return NoMember("op.path", options.path);
  op.set_kind(kind == NormKind::kLayerNorm ? v1::NORM_KIND_LAYER_NORM : v1::NORM_KIND_RMS_NORM);
  if (options.eps.has_value()) op.set_eps(*options.eps);
  op.set_group_size(options.group_size);
  op.set_gate_activation(*activation);
  op.set_gate_order(*order);
  op.set_weight_offset(options.weight_offset);
  op.set_round_before_weight(options.round_before_weight);
  op.set_path(*path);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ForwardFields(NormKind kind, const ForwardCall& call) {
  v1::ForwardRequest request;
  if (absl::Status status = SetOp(kind, call.op, *request.mutable_op()); !status.ok()) {
    return status;
  }
  if (call.y.wanted()) request.mutable_y()->mutable_inline_();
  if (call.mean.wanted()) request.mutable_mean()->mutable_inline_();
  if (call.rstd.wanted()) request.mutable_rstd()->mutable_inline_();
  if (call.residual_out.wanted()) request.mutable_residual_out()->mutable_inline_();
  return request.SerializeAsString();
}

absl::StatusOr<std::string> BackwardFields(NormKind kind, const BackwardCall& call) {
  v1::BackwardRequest request;
  if (absl::Status status = SetOp(kind, call.op, *request.mutable_op()); !status.ok()) {
    return status;
  }
  v1::DataType parameter_dtype = v1::DATA_TYPE_UNSPECIFIED;
  if (call.parameter_gradient_dtype.has_value()) {
    const auto dtype = ToWire(*call.parameter_gradient_dtype);
    if (!dtype) return NoMember("dweight.dtype", *call.parameter_gradient_dtype);
    parameter_dtype = *dtype;
  }
  if (call.dx.wanted()) request.mutable_dx()->mutable_inline_();
  if (call.dz.wanted()) request.mutable_dz()->mutable_inline_();
  if (call.dresidual.wanted()) request.mutable_dresidual()->mutable_inline_();
  if (call.dweight.wanted()) {
    request.mutable_dweight()->mutable_inline_();
    request.mutable_dweight()->set_dtype(parameter_dtype);
  }
  if (call.dbias.wanted()) {
    request.mutable_dbias()->mutable_inline_();
    request.mutable_dbias()->set_dtype(parameter_dtype);
  }
  return request.SerializeAsString();
}

}  // namespace normd
