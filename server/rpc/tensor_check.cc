#include "server/rpc/tensor_check.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/field_error.h"
#include "normd/v1/norm.pb.h"

namespace normd {
namespace {

absl::Status CheckStorage(absl::string_view name, const TensorHeader& tensor) {
  const int storages = tensor.has_inline + tensor.has_buffer + tensor.has_constant;
  if (storages == 0) return FieldError(name, "has no data: inline bytes are required");
  if (storages > 1) {
    return FieldError(name, "has more than one of inline, buffer and constant");
  }
  if (tensor.has_inline) return absl::OkStatus();
  return FieldError(absl::StatusCode::kUnimplemented,
                    absl::StrCat(name, tensor.has_buffer ? ".buffer" : ".constant"),
                    "is not available in this version: send the tensor inline");
}

// Rows of a shape whose dimensions are all >= 0. False: more than 64 bits.
bool Rows(const Shape& shape, int64_t& rows) {
  const auto leading = shape.span().first(shape.rank - 1);
  rows = 1;
  for (const int64_t dimension : leading) {
    if (dimension == 0) {
      rows = 0;
      return true;
    }
  }
  for (const int64_t dimension : leading) {
    if (__builtin_mul_overflow(rows, dimension, &rows)) return false;
  }
  return true;
}

absl::Status CheckShape(absl::string_view field, const Shape& shape) {
  if (shape.rank == 0) return FieldError(field, "is required: 1 to 8 dimensions");
  for (const int64_t dimension : shape.span()) {
    if (dimension < 0) {
      return FieldError(field, absl::StrCat(ShapeText(shape), " has a negative dimension"));
    }
  }
  if (shape.span().back() == 0) {
    return FieldError(field, absl::StrCat(ShapeText(shape), ": the last dimension is at least 1"));
  }
  return absl::OkStatus();
}

}  // namespace

std::string ShapeText(const Shape& shape) {
  return absl::StrCat("[", absl::StrJoin(shape.span(), ", "), "]");
}

absl::StatusOr<DataType> CheckDataType(absl::string_view field, int32_t number) {
  switch (number) {
    case v1::DATA_TYPE_UNSPECIFIED:
      return FieldError(field, "is required");
    case v1::DATA_TYPE_FLOAT32:
      return DataType::kFloat32;
    case v1::DATA_TYPE_FLOAT16:
      return DataType::kFloat16;
    case v1::DATA_TYPE_BFLOAT16:
      return DataType::kBFloat16;
    default:
      return FieldError(field, absl::StrCat(number, " is not a DataType"));
  }
}

absl::StatusOr<CheckedTensor> CheckTensor(absl::string_view name, const TensorHeader& tensor) {
  if (absl::Status status = CheckStorage(name, tensor); !status.ok()) return status;
  const auto dtype = CheckDataType(absl::StrCat(name, ".dtype"), tensor.dtype);
  if (!dtype.ok()) return dtype.status();
  const std::string shape_field = absl::StrCat(name, ".shape");
  if (absl::Status status = CheckShape(shape_field, tensor.shape); !status.ok()) return status;

  CheckedTensor checked;
  checked.dtype = *dtype;
  checked.width = tensor.shape.span().back();
  int64_t elements = 0;
  int64_t bytes = 0;
  if (!Rows(tensor.shape, checked.rows) ||
      __builtin_mul_overflow(checked.rows, checked.width, &elements) ||
      __builtin_mul_overflow(elements, SizeOf(checked.dtype), &bytes)) {
    return FieldError(shape_field, absl::StrCat(ShapeText(tensor.shape), " overflows 64 bits"));
  }
  if (tensor.data.bytes != bytes) {
    return FieldError(absl::StrCat(name, ".inline"),
                      absl::StrCat("has ", tensor.data.bytes, " bytes; ", ShapeText(tensor.shape),
                                   " of ", Name(checked.dtype), " are ", bytes));
  }
  return checked;
}

}  // namespace normd
