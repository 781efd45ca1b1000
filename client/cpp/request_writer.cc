#include "client/cpp/request_writer.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "normd/v1/norm.pb.h"

namespace normd {
namespace {

// Smaller payloads are copied behind the small fields: cheaper than a slice of their own.
constexpr size_t kCopyBytes = 16 << 10;
constexpr int64_t kMaxMessageBytes = std::numeric_limits<int32_t>::max();
constexpr uint64_t kLengthDelimited = 2;

void AppendVarint(uint64_t value, std::string& out) {
  while (value > 0x7F) {
    out.push_back(static_cast<char>((value & 0x7F) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void AppendTag(int field_number, std::string& out) {
  AppendVarint(static_cast<uint64_t>(field_number) << 3 | kLengthDelimited, out);
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
  // A number that is no DataType: the server says so, naming the field.
  return v1::DATA_TYPE_UNSPECIFIED;
}

}  // namespace

RequestWriter::RequestWriter(std::string fields, Loan& loan)
    : loan_(loan), pending_(std::move(fields)), bytes_(static_cast<int64_t>(pending_.size())) {}

void RequestWriter::Add(int field_number, const Operand& operand) {
  v1::Tensor small;
  small.set_dtype(ToWire(operand.dtype));
  for (const int64_t dimension : operand.shape) small.add_shape(dimension);
  std::string tensor = small.SerializeAsString();
  // Written for an empty payload, too: it says that the tensor is inline.
  AppendTag(v1::Tensor::kInlineFieldNumber, tensor);
  AppendVarint(operand.bytes.size(), tensor);

  const size_t before = pending_.size();
  AppendTag(field_number, pending_);
  AppendVarint(tensor.size() + operand.bytes.size(), pending_);
  pending_ += tensor;
  bytes_ += static_cast<int64_t>(pending_.size() - before + operand.bytes.size());
  if (operand.bytes.empty()) return;
  if (operand.bytes.size() <= kCopyBytes) {
    pending_.append(reinterpret_cast<const char*>(operand.bytes.data()), operand.bytes.size());
    return;
  }
  Flush();
  slices_.push_back(loan_.Lend(operand.bytes));
}

absl::Status RequestWriter::Finish(grpc::ByteBuffer& message) {
  if (bytes_ > kMaxMessageBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the request is ", bytes_, " bytes, a message holds at most ", kMaxMessageBytes));
  }
  Flush();
  grpc::ByteBuffer(slices_.data(), slices_.size()).Swap(&message);
  slices_.clear();
  return absl::OkStatus();
}

void RequestWriter::Flush() {
  if (!pending_.empty()) slices_.emplace_back(pending_);
  pending_.clear();
}

}  // namespace normd
