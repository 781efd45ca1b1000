#include "server/rpc/validate.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kernels/field_error.h"
#include "normd/v1/norm.pb.h"
#include "server/rpc/tensor_check.h"

namespace normd {
namespace {

absl::Status NotAValue(absl::string_view field, int32_t number, absl::string_view type) {
  return FieldError(field, absl::StrCat(number, " is not a ", type));
}

class Validator {
 public:
  explicit Validator(const RequestHeader& header) : header_(header) {
    request_.spec.direction = header.direction;
  }

  absl::StatusOr<NormRequest> Run() {
    using Step = absl::Status (Validator::*)();
    constexpr Step kSteps[] = {
        &Validator::Op,         &Validator::X,       &Validator::Group,
        &Validator::Gate,       &Validator::Rows,    &Validator::Parameters,
        &Validator::Statistics, &Validator::Outputs, &Validator::Together,
    };
    for (const Step step : kSteps) {
      if (absl::Status status = (this->*step)(); !status.ok()) return status;
    }
    return request_;
  }

 private:
  absl::Status Op();
  absl::Status X();
  absl::Status Group();
  absl::Status Gate();
  absl::Status Rows();
  absl::Status Parameters();
  absl::Status Statistics();
  absl::Status Outputs();
  absl::Status Together();

  absl::Status Path();
  absl::Status LikeX(absl::string_view name, const TensorHeader& tensor, DataType& dtype);
  absl::Status SummandLikeX(absl::string_view name, const TensorHeader& tensor);
  absl::Status Parameter(absl::string_view name, const TensorHeader& tensor, bool& present,
                         DataType& dtype);
  absl::Status Statistic(absl::string_view name, const TensorHeader& tensor);
  absl::Status GradientDtype(absl::string_view name, const OutputHeader& output, DataType parameter,
                             DataType& dtype);

  const RequestHeader& header_;
  NormRequest request_;
  NormSpec& spec_ = request_.spec;
};

absl::Status Validator::Op() {
  const OpHeader& op = header_.op;
  if (!op.present) return FieldError("op", "is required");
  switch (op.kind) {
    case v1::NORM_KIND_UNSPECIFIED:
      return FieldError("op.kind", "is required");
    case v1::NORM_KIND_LAYER_NORM:
      spec_.kind = NormKind::kLayerNorm;
      break;
    case v1::NORM_KIND_RMS_NORM:
      spec_.kind = NormKind::kRmsNorm;
      break;
    default:
      return NotAValue("op.kind", op.kind, "NormKind");
  }
  if (!op.eps.has_value()) return FieldError("op.eps", "is required");
  if (!std::isfinite(*op.eps) || *op.eps < 0) {
    return FieldError("op.eps", absl::StrCat("is ", *op.eps, "; it is finite and >= 0"));
  }
  request_.eps = *op.eps;
  spec_.weight_offset = op.weight_offset;
  spec_.round_before_weight = op.round_before_weight;
  return Path();
}

absl::Status Validator::Path() {
  switch (header_.op.path) {
    case v1::KERNEL_PATH_UNSPECIFIED:
    case v1::KERNEL_PATH_AUTO:
      spec_.path = KernelPath::kAuto;
      return absl::OkStatus();
    case v1::KERNEL_PATH_ROW_TILED:
      spec_.path = KernelPath::kRowTiled;
      return absl::OkStatus();
    case v1::KERNEL_PATH_SINGLE_ROW:
      spec_.path = KernelPath::kSingleRow;
      return absl::OkStatus();
    default:
      return NotAValue("op.path", header_.op.path, "KernelPath");
  }
}

absl::Status Validator::X() {
  if (!header_.x.present) return FieldError("x", "is required");
  const auto x = CheckTensor("x", header_.x);
  if (!x.ok()) return x.status();
  spec_.dtype = x->dtype;
  spec_.width = x->width;
  request_.rows = x->rows;
  return absl::OkStatus();
}

absl::Status Validator::Group() {
  const int64_t group = header_.op.group_size;
  if (group < 0) return FieldError("op.group_size", absl::StrCat(group, " is negative"));
  spec_.group = group == 0 ? spec_.width : group;
  if (spec_.width % spec_.group != 0) {
    return FieldError("op.group_size",
                      absl::StrCat(group, " does not divide the width ", spec_.width));
  }
  return absl::OkStatus();
}

absl::Status Validator::Gate() {
  switch (header_.op.gate_activation) {
    case v1::GATE_ACTIVATION_UNSPECIFIED:
    case v1::GATE_ACTIVATION_NONE:
      spec_.gate = GateActivation::kNone;
      break;
    case v1::GATE_ACTIVATION_SILU:
      spec_.gate = GateActivation::kSilu;
      break;
    case v1::GATE_ACTIVATION_SIGMOID:
      spec_.gate = GateActivation::kSigmoid;
      break;
    default:
      return NotAValue("op.gate_activation", header_.op.gate_activation, "GateActivation");
  }
  switch (header_.op.gate_order) {
    case v1::GATE_ORDER_UNSPECIFIED:
      spec_.gate_order = GateOrder::kNone;
      break;
    case v1::GATE_ORDER_NORM_THEN_GATE:
      spec_.gate_order = GateOrder::kNormThenGate;
      break;
    case v1::GATE_ORDER_GATE_THEN_NORM:
      spec_.gate_order = GateOrder::kGateThenNorm;
      break;
    default:
      return NotAValue("op.gate_order", header_.op.gate_order, "GateOrder");
  }
  if (header_.z.present && !spec_.has_gate()) {
    return FieldError("op.gate_activation", "is required with z: SILU or SIGMOID");
  }
  if (!header_.z.present && spec_.has_gate()) {
    return FieldError("op.gate_activation", "is given without z");
  }
  if (!header_.z.present) return absl::OkStatus();  // an order alone: the kernels' Validate
  return LikeX("z", header_.z, spec_.z_dtype);
}

// A tensor with the rows and the width of x, in any dtype.
absl::Status Validator::LikeX(absl::string_view name, const TensorHeader& tensor, DataType& dtype) {
  const auto checked = CheckTensor(name, tensor);
  if (!checked.ok()) return checked.status();
  if (checked->rows != request_.rows || checked->width != spec_.width) {
    return FieldError(absl::StrCat(name, ".shape"),
                      absl::StrCat(ShapeText(tensor.shape), " does not have the ", request_.rows,
                                   " rows and the width ", spec_.width, " of x"));
  }
  dtype = checked->dtype;
  return absl::OkStatus();
}

// The same in the dtype of x.
absl::Status Validator::SummandLikeX(absl::string_view name, const TensorHeader& tensor) {
  DataType dtype = DataType::kFloat32;
  if (absl::Status status = LikeX(name, tensor, dtype); !status.ok()) return status;
  if (dtype != spec_.dtype) {
    return FieldError(absl::StrCat(name, ".dtype"),
                      absl::StrCat("is ", Name(dtype), "; x is ", Name(spec_.dtype)));
  }
  return absl::OkStatus();
}

absl::Status Validator::Rows() {
  if (header_.direction == Direction::kForward) {
    spec_.has_residual = header_.residual.present;
    if (!spec_.has_residual) return absl::OkStatus();
    return SummandLikeX("residual", header_.residual);
  }
  if (!header_.dy.present) return FieldError("dy", "is required");
  if (absl::Status status = LikeX("dy", header_.dy, spec_.dy_dtype); !status.ok()) return status;
  spec_.has_dresidual_out = header_.dresidual_out.present;
  spec_.has_residual = header_.dresidual.present || header_.dresidual_out.present;
  if (spec_.has_residual && spec_.gate_order == GateOrder::kGateThenNorm) {
    return FieldError(header_.dresidual.present ? "dresidual" : "dresidual_out",
                      "cannot be combined with GATE_THEN_NORM");
  }
  if (!spec_.has_dresidual_out) return absl::OkStatus();
  return SummandLikeX("dresidual_out", header_.dresidual_out);
}

absl::Status Validator::Parameters() {
  absl::Status status = Parameter("weight", header_.weight, spec_.has_weight, spec_.weight_dtype);
  if (!status.ok()) return status;
  return Parameter("bias", header_.bias, spec_.has_bias, spec_.bias_dtype);
}

absl::Status Validator::Parameter(absl::string_view name, const TensorHeader& tensor, bool& present,
                                  DataType& dtype) {
  present = tensor.present;
  if (!present) return absl::OkStatus();
  const auto checked = CheckTensor(name, tensor);
  if (!checked.ok()) return checked.status();
  if (tensor.shape.rank != 1 || checked->width != spec_.width) {
    return FieldError(absl::StrCat(name, ".shape"),
                      absl::StrCat(ShapeText(tensor.shape), " is not the [", spec_.width,
                                   "] of one value a column"));
  }
  dtype = checked->dtype;
  return absl::OkStatus();
}

absl::Status Validator::Statistics() {
  if (header_.direction == Direction::kForward) return absl::OkStatus();
  const bool layer_norm = spec_.kind == NormKind::kLayerNorm;
  if (header_.mean.present && !layer_norm) return FieldError("mean", "RMSNorm has no mean");
  if (layer_norm && header_.mean.present != header_.rstd.present) {
    return FieldError(header_.mean.present ? "rstd" : "mean", "mean and rstd come together");
  }
  spec_.has_statistics = header_.rstd.present;
  if (header_.mean.present) {
    if (absl::Status status = Statistic("mean", header_.mean); !status.ok()) return status;
  }
  return header_.rstd.present ? Statistic("rstd", header_.rstd) : absl::OkStatus();
}

absl::Status Validator::Statistic(absl::string_view name, const TensorHeader& tensor) {
  const std::string shape_field = absl::StrCat(name, ".shape");
  // [rows] of no rows is a statistic of one group, and its last dimension is 0: give it a 1.
  TensorHeader widened = tensor;
  if (spec_.groups() == 1 && tensor.shape.rank >= 1 && tensor.shape.rank < kMaxRank &&
      tensor.shape.span().back() == 0) {
    widened.shape.dimensions[widened.shape.rank++] = 1;
  }
  const auto checked = CheckTensor(name, widened);
  if (!checked.ok()) return checked.status();
  if (checked->dtype != DataType::kFloat32) {
    return FieldError(absl::StrCat(name, ".dtype"),
                      absl::StrCat("is ", Name(checked->dtype), "; statistics are float32"));
  }
  const bool rows_by_groups = checked->width == spec_.groups() && checked->rows == request_.rows;
  const bool one_a_row = spec_.groups() == 1 && checked->rows * checked->width == request_.rows;
  if (rows_by_groups || one_a_row) return absl::OkStatus();
  return FieldError(shape_field, absl::StrCat(ShapeText(tensor.shape), " does not flatten to [",
                                              request_.rows, ", ", spec_.groups(), "]"));
}

absl::Status Validator::Outputs() {
  for (const OutputField& field : OutputFields(header_.direction)) {
    const OutputHeader& output = header_.*field.member;
    if (!output.present) continue;
    if (output.has_inline && output.has_buffer) {
      return FieldError(field.name, "has both inline and buffer");
    }
    if (!output.has_inline && !output.has_buffer) {
      return FieldError(field.name, "has no destination: inline is required");
    }
    if (output.has_buffer) {
      return FieldError(absl::StatusCode::kUnimplemented, absl::StrCat(field.name, ".buffer"),
                        "is not available in this version: ask for the output inline");
    }
    const bool of_a_parameter =
        field.member == &RequestHeader::dweight || field.member == &RequestHeader::dbias;
    if (output.dtype != v1::DATA_TYPE_UNSPECIFIED && !of_a_parameter) {
      return FieldError(absl::StrCat(field.name, ".dtype"),
                        "can be chosen for dweight and dbias only");
    }
  }
  absl::Status status =
      GradientDtype("dweight", header_.dweight, spec_.weight_dtype, spec_.dweight_dtype);
  if (!status.ok()) return status;
  return GradientDtype("dbias", header_.dbias, spec_.bias_dtype, spec_.dbias_dtype);
}

absl::Status Validator::GradientDtype(absl::string_view name, const OutputHeader& output,
                                      DataType parameter, DataType& dtype) {
  if (!output.present) return absl::OkStatus();
  dtype = parameter;
  if (output.dtype == v1::DATA_TYPE_UNSPECIFIED) return absl::OkStatus();
  const std::string field = absl::StrCat(name, ".dtype");
  const auto wanted = CheckDataType(field, output.dtype);
  if (!wanted.ok()) return wanted.status();
  if (*wanted != parameter && *wanted != DataType::kFloat32) {
    return FieldError(field, absl::StrCat("is ", Name(*wanted), "; it is float32 or the ",
                                          Name(parameter), " of the parameter"));
  }
  dtype = *wanted;
  return absl::OkStatus();
}

absl::Status Validator::Together() {
  spec_.want_y = header_.y.present;
  spec_.want_mean = header_.mean_out.present;
  spec_.want_rstd = header_.rstd_out.present;
  spec_.want_residual_out = header_.residual_out.present;
  spec_.want_dx = header_.dx.present;
  spec_.want_dz = header_.dz.present;
  spec_.want_dweight = header_.dweight.present;
  spec_.want_dbias = header_.dbias.present;
  spec_.want_dresidual = header_.dresidual.present;
  return Validate(spec_);
}

}  // namespace

absl::StatusOr<NormRequest> ValidateRequest(const RequestHeader& header) {
  return Validator(header).Run();
}

}  // namespace normd
