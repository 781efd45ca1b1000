#include "tests/server/requests.h"

#include <algorithm>

namespace normd {

v1::Tensor FloatTensor(const std::vector<int64_t>& shape, uint32_t seed) {
  v1::Tensor tensor;
  tensor.set_dtype(v1::DATA_TYPE_FLOAT32);
  size_t elements = 1;
  for (const int64_t dimension : shape) {
    tensor.add_shape(dimension);
    elements *= static_cast<size_t>(dimension);
  }
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> values(elements);
  for (float& one : values) one = value(random);
  tensor.set_inline_(values.data(), elements * sizeof(float));
  return tensor;
}

v1::ForwardRequest LayerNormRequest(int64_t rows, int64_t width) {
  v1::ForwardRequest request;
  request.mutable_op()->set_kind(v1::NORM_KIND_LAYER_NORM);
  request.mutable_op()->set_eps(1e-5F);
  *request.mutable_x() = FloatTensor({rows, width}, 1);
  *request.mutable_weight() = FloatTensor({width}, 2);
  *request.mutable_bias() = FloatTensor({width}, 3);
  request.mutable_y()->mutable_inline_();
  request.mutable_mean()->mutable_inline_();
  request.mutable_rstd()->mutable_inline_();
  return request;
}

v1::ForwardRequest GatedRequest(int64_t rows, int64_t width) {
  v1::ForwardRequest request;
  request.mutable_op()->set_kind(v1::NORM_KIND_RMS_NORM);
  request.mutable_op()->set_eps(1e-6F);
  request.mutable_op()->set_gate_activation(v1::GATE_ACTIVATION_SILU);
  request.mutable_op()->set_gate_order(v1::GATE_ORDER_NORM_THEN_GATE);
  *request.mutable_x() = FloatTensor({rows, width}, 1);
  *request.mutable_z() = FloatTensor({rows, width}, 4);
  *request.mutable_weight() = FloatTensor({width}, 2);
  request.mutable_y()->mutable_inline_();
  return request;
}

v1::BackwardRequest LayerNormBackwardRequest(int64_t rows, int64_t width) {
  v1::BackwardRequest request;
  request.mutable_op()->set_kind(v1::NORM_KIND_LAYER_NORM);
  request.mutable_op()->set_eps(1e-5F);
  *request.mutable_x() = FloatTensor({rows, width}, 1);
  *request.mutable_dy() = FloatTensor({rows, width}, 5);
  *request.mutable_weight() = FloatTensor({width}, 2);
  *request.mutable_bias() = FloatTensor({width}, 3);
  request.mutable_dx()->mutable_inline_();
  request.mutable_dweight()->mutable_inline_();
  request.mutable_dbias()->mutable_inline_();
  return request;
}

std::vector<grpc::Slice> CutEvery(const std::string& message, size_t bytes) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < message.size(); at += bytes) {
    slices.emplace_back(message.data() + at, std::min(bytes, message.size() - at));
  }
  return slices;
}

std::vector<grpc::Slice> CutAnywhere(const std::string& message, std::mt19937& random) {
  std::vector<grpc::Slice> slices;
  std::uniform_int_distribution<size_t> length(0, 40);
  for (size_t at = 0; at < message.size();) {
    const size_t bytes = std::min(length(random), message.size() - at);
    slices.emplace_back(message.data() + at, bytes);
    at += bytes;
  }
  return slices;
}

}  // namespace normd
