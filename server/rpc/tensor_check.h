// Checks of one tensor of a request by itself: storage, dtype, shape, bytes.
#ifndef NORMD_SERVER_RPC_TENSOR_CHECK_H_
#define NORMD_SERVER_RPC_TENSOR_CHECK_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/data_type.h"
#include "server/rpc/request_header.h"

namespace normd {

// A tensor whose bytes are exactly those of its shape and dtype.
struct CheckedTensor {
  DataType dtype = DataType::kFloat32;
  int64_t width = 0;  // the last dimension, >= 1
  int64_t rows = 0;   // the product of the others
};

// `name` is the field of the tensor. REQUIRES: tensor.present
absl::StatusOr<CheckedTensor> CheckTensor(absl::string_view name, const TensorHeader& tensor);

// The dtype of a number on the wire. `field` is where the number stood.
absl::StatusOr<DataType> CheckDataType(absl::string_view field, int32_t number);

// "[2, 3]"
std::string ShapeText(const Shape& shape);

}  // namespace normd

#endif  // NORMD_SERVER_RPC_TENSOR_CHECK_H_
