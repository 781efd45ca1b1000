#include "server/rpc/encode.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "grpcpp/support/slice.h"

namespace normd {
namespace {

void AppendVarint(uint64_t value, std::string& to) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

// Tag and length of a field of bytes or of a message.
void AppendPrefix(uint32_t field, uint64_t bytes, std::string& to) {
  AppendVarint(uint64_t{field} << 3 | 2, to);
  AppendVarint(bytes, to);
}

v1::DataType ToWire(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return v1::DATA_TYPE_FLOAT32;
    case DataType::kFloat16:
      return v1::DATA_TYPE_FLOAT16;
    case DataType::kBFloat16:
      return v1::DATA_TYPE_BFLOAT16;
  }
  return v1::DATA_TYPE_UNSPECIFIED;
}

// Everything of a Tensor field but the inline bytes themselves, which end it.
void AppendTensor(const StagedOutput& output, std::string& to) {
  v1::Tensor tensor;
  tensor.set_dtype(ToWire(output.dtype));
  for (const int64_t dimension : output.shape.span()) tensor.add_shape(dimension);
  std::string head = tensor.SerializeAsString();
  const auto bytes = static_cast<uint64_t>(output.bytes);
  AppendPrefix(v1::Tensor::kInlineFieldNumber, bytes, head);
  AppendPrefix(output.response_field, head.size() + bytes, to);
  to += head;
}

grpc::Slice Lend(const StagedOutput& output, const std::shared_ptr<StagingBlock>& block) {
  return grpc::Slice(
      output.data, static_cast<size_t>(output.bytes),
      [](void* holder) { delete static_cast<std::shared_ptr<StagingBlock>*>(holder); },
      new std::shared_ptr<StagingBlock>(block));
}

}  // namespace

grpc::ByteBuffer EncodeReply(const StagedRequest& staged, const v1::Execution& execution) {
  static_assert(int{v1::ForwardResponse::kExecutionFieldNumber} ==
                int{v1::BackwardResponse::kExecutionFieldNumber});
  std::vector<grpc::Slice> slices;
  slices.reserve(2 * staged.outputs.size() + 1);
  std::string head;
  const std::string execution_bytes = execution.SerializeAsString();
  AppendPrefix(v1::ForwardResponse::kExecutionFieldNumber, execution_bytes.size(), head);
  head += execution_bytes;
  for (const StagedOutput& output : staged.outputs) {
    AppendTensor(output, head);
    if (output.bytes == 0) continue;
    slices.emplace_back(head.data(), head.size());
    slices.push_back(Lend(output, staged.block));
    head.clear();
  }
  if (!head.empty()) slices.emplace_back(head.data(), head.size());
  return grpc::ByteBuffer(slices.data(), slices.size());
}

}  // namespace normd
