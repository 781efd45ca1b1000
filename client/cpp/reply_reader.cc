#include "client/cpp/reply_reader.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "kernels/field_error.h"
#include "normd/v1/norm.pb.h"

namespace normd {
namespace {

using google::protobuf::io::CodedInputStream;

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

constexpr int kMaxRank = 32;  // of a tensor in a reply; the server's own limit is lower

absl::Status Malformed(const char* what) {
  return absl::InternalError(absl::StrCat("the reply cannot be read: ", what));
}

bool Skip(CodedInputStream& in, uint32_t type) {
  uint64_t length = 0;
  switch (type) {
    case kVarint:
      return in.ReadVarint64(&length);
    case kFixed64:
      return in.Skip(8);
    case kLength:
      return in.ReadVarint64(&length) && length <= std::numeric_limits<int32_t>::max() &&
             in.Skip(static_cast<int>(length));
    case kFixed32:
      return in.Skip(4);
    default:
      return false;
  }
}

// The length of what follows; false when it passes the end of the enclosing message.
bool ReadLength(CodedInputStream& in, int& length) {
  uint64_t value = 0;
  if (!in.ReadVarint64(&value)) return false;
  const int left = in.BytesUntilLimit();  // -1: no limit, at the top level
  if (value > static_cast<uint64_t>(left < 0 ? std::numeric_limits<int32_t>::max() : left)) {
    return false;
  }
  length = static_cast<int>(value);
  return true;
}

bool ReadShape(CodedInputStream& in, uint32_t type, std::vector<int64_t>& shape) {
  uint64_t dimension = 0;
  if (type == kVarint) {
    if (!in.ReadVarint64(&dimension) || shape.size() >= kMaxRank) return false;
    shape.push_back(static_cast<int64_t>(dimension));
    return true;
  }
  int length = 0;
  if (type != kLength || !ReadLength(in, length)) return false;
  const auto limit = in.PushLimit(length);
  while (in.BytesUntilLimit() > 0) {
    if (!in.ReadVarint64(&dimension) || shape.size() >= kMaxRank) return false;
    shape.push_back(static_cast<int64_t>(dimension));
  }
  in.PopLimit(limit);
  return true;
}

absl::Status ReadPayload(CodedInputStream& in, const Expected& expected, Tensor& tensor) {
  int length = 0;
  if (!ReadLength(in, length)) return Malformed(expected.name);
  const auto size = static_cast<size_t>(length);
  if (expected.output->owned()) {
    tensor.storage.reset(new std::byte[size]);  // not cleared: every byte is written below
    tensor.bytes = absl::MakeSpan(tensor.storage.get(), size);
  } else {
    tensor.bytes = expected.output->memory();
    if (tensor.bytes.size() != size) {
      return FieldError(expected.name, absl::StrCat("the output is ", size, " bytes, its memory ",
                                                    tensor.bytes.size()));
    }
  }
  if (length > 0 && !in.ReadRaw(tensor.bytes.data(), length)) return Malformed(expected.name);
  return absl::OkStatus();
}

bool SetDataType(uint64_t number, Tensor& tensor) {
  switch (number) {
    case v1::DATA_TYPE_FLOAT32:
      tensor.dtype = DataType::kFloat32;
      return true;
    case v1::DATA_TYPE_FLOAT16:
      tensor.dtype = DataType::kFloat16;
      return true;
    case v1::DATA_TYPE_BFLOAT16:
      tensor.dtype = DataType::kBFloat16;
      return true;
    default:
      return false;
  }
}

// Whether dtype and shape make exactly the bytes that came.
bool Fits(const Tensor& tensor) {
  auto left = static_cast<int64_t>(tensor.bytes.size()) / SizeOf(tensor.dtype);
  bool empty = false;
  int64_t elements = 1;
  for (const int64_t dimension : tensor.shape) {
    if (dimension < 0) return false;
    if (dimension == 0) empty = true;
    if (dimension == 0 || empty) continue;
    if (elements > left / dimension) return false;
    elements *= dimension;
  }
  const int64_t bytes = empty ? 0 : elements * SizeOf(tensor.dtype);
  return bytes == static_cast<int64_t>(tensor.bytes.size());
}

absl::Status ReadTensor(CodedInputStream& in, const Expected& expected) {
  int length = 0;
  if (!ReadLength(in, length)) return Malformed(expected.name);
  const auto limit = in.PushLimit(length);
  Tensor tensor;
  bool has_dtype = false;
  while (in.BytesUntilLimit() > 0) {
    const uint32_t tag = in.ReadTag();
    const uint32_t type = tag & 7;
    switch (tag >> 3) {
      case v1::Tensor::kDtypeFieldNumber: {
        uint64_t number = 0;
        has_dtype = type == kVarint && in.ReadVarint64(&number) && SetDataType(number, tensor);
        if (!has_dtype) return Malformed(expected.name);
        break;
      }
      case v1::Tensor::kShapeFieldNumber:
        if (!ReadShape(in, type, tensor.shape)) return Malformed(expected.name);
        break;
      case v1::Tensor::kInlineFieldNumber:
        if (type != kLength) return Malformed(expected.name);
        if (absl::Status status = ReadPayload(in, expected, tensor); !status.ok()) return status;
        break;
      default:
        if (tag == 0 || !Skip(in, type)) return Malformed(expected.name);
    }
  }
  in.PopLimit(limit);
  if (!has_dtype || !Fits(tensor)) return Malformed(expected.name);
  *expected.result = std::move(tensor);
  return absl::OkStatus();
}

bool ReadExecution(CodedInputStream& in, Execution& execution) {
  int length = 0;
  std::string bytes;
  v1::Execution message;
  if (!ReadLength(in, length) || !in.ReadString(&bytes, length)) return false;
  if (!message.ParseFromString(bytes)) return false;
  const v1::Timings& timings = message.timings();
  execution.decode = absl::Nanoseconds(timings.decode_ns());
  execution.queue = absl::Nanoseconds(timings.queue_ns());
  execution.kernel = absl::Nanoseconds(timings.kernel_ns());
  execution.encode = absl::Nanoseconds(timings.encode_ns());
  execution.total = absl::Nanoseconds(timings.total_ns());
  execution.batch_rows = message.batch_rows();
  execution.batch_requests = message.batch_requests();
  execution.device = message.device();
  execution.kernel_name = message.kernel();
  return true;
}

const Expected* Find(absl::Span<const Expected> expected, uint32_t field_number) {
  for (const Expected& one : expected) {
    if (static_cast<uint32_t>(one.field_number) == field_number && one.output->wanted()) {
      return &one;
    }
  }
  return nullptr;
}

}  // namespace

absl::Status ReadReply(grpc::ByteBuffer& reply, absl::Span<const Expected> expected,
                       Execution& execution) {
  // The same number in both replies.
  constexpr int kExecution = v1::ForwardResponse::kExecutionFieldNumber;
  static_assert(kExecution == v1::BackwardResponse::kExecutionFieldNumber);
  grpc::ProtoBufferReader slices(&reply);
  CodedInputStream in(&slices);
  while (const uint32_t tag = in.ReadTag()) {
    const uint32_t type = tag & 7;
    const Expected* output = type == kLength ? Find(expected, tag >> 3) : nullptr;
    if (output != nullptr) {
      if (absl::Status status = ReadTensor(in, *output); !status.ok()) return status;
    } else if (tag >> 3 == kExecution && type == kLength) {
      if (!ReadExecution(in, execution)) return Malformed("execution");
    } else if (!Skip(in, type)) {
      return Malformed("a field passes the end");
    }
  }
  if (!in.ConsumedEntireMessage()) return Malformed("it ends early");
  for (const Expected& one : expected) {
    if (one.output->wanted() && !one.result->has_value()) return Malformed(one.name);
  }
  return absl::OkStatus();
}

}  // namespace normd
