#include "server/rpc/decode.h"

#include <bit>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kernels/field_error.h"
#include "normd/v1/norm.pb.h"
#include "server/rpc/wire_reader.h"

namespace normd {
namespace {

// The path of a field in texts: "x", "shape" -> "x.shape". Built only for an error.
struct Path {
  absl::string_view parent;
  absl::string_view field;

  std::string Text() const {
    return parent.empty() ? std::string(field) : absl::StrCat(parent, ".", field);
  }
};

absl::Status Malformed(const Path& path) {
  return FieldError(path.Text(), "is cut off or is not valid protobuf");
}

class Decoder {
 public:
  Decoder(absl::Span<const grpc::Slice> slices, Direction direction) : reader_(slices) {
    header_.direction = direction;
  }

  absl::StatusOr<RequestHeader> Run() {
    while (!reader_.AtEnd()) {
      WireTag tag;
      if (absl::Status status = NextTag("", tag); !status.ok()) return status;
      if (absl::Status status = ReadRequestField(tag); !status.ok()) return status;
    }
    return header_;
  }

 private:
  absl::Status NextTag(absl::string_view message, WireTag& tag) {
    if (++fields_ > kMaxFields) {
      return FieldError("request", absl::StrCat("has more than ", kMaxFields, " fields"));
    }
    if (!reader_.ReadTag(tag)) return Malformed({"", message.empty() ? "request" : message});
    return absl::OkStatus();
  }

  absl::Status ReadRequestField(const WireTag& tag) {
    static_assert(int{v1::ForwardRequest::kOpFieldNumber} ==
                  int{v1::BackwardRequest::kOpFieldNumber});
    if (tag.field == v1::ForwardRequest::kOpFieldNumber) {
      return ReadMessage("op", tag, header_.op.present,
                         [this](const WireTag& inner) { return ReadOpField(inner); });
    }
    for (const TensorField& field : TensorFields(header_.direction)) {
      if (field.number != tag.field) continue;
      TensorHeader& tensor = header_.*field.member;
      return ReadMessage(field.name, tag, tensor.present, [&](const WireTag& inner) {
        return ReadTensorField(field.name, inner, tensor);
      });
    }
    for (const OutputField& field : OutputFields(header_.direction)) {
      if (field.number != tag.field) continue;
      OutputHeader& output = header_.*field.member;
      return ReadMessage(field.name, tag, output.present, [&](const WireTag& inner) {
        return ReadOutputField(field.name, inner, output);
      });
    }
    return SkipUnknown("", tag);
  }

  // A submessage: confines the reader to it and gives each of its fields to `read_field`.
  template <typename ReadField>
  absl::Status ReadMessage(absl::string_view name, const WireTag& tag, bool& present,
                           const ReadField& read_field) {
    if (tag.type != WireType::kBytes) return WrongType({"", name});
    if (present) return FieldError(name, "is given twice");
    present = true;
    int64_t bytes = 0;
    if (!reader_.ReadLength(bytes)) return Malformed({"", name});
    const int64_t outer = reader_.PushLimit(bytes);
    while (!reader_.AtEnd()) {
      WireTag inner;
      if (absl::Status status = NextTag(name, inner); !status.ok()) return status;
      if (absl::Status status = read_field(inner); !status.ok()) return status;
    }
    reader_.PopLimit(outer);
    return absl::OkStatus();
  }

  absl::Status ReadOpField(const WireTag& tag) {
    OpHeader& op = header_.op;
    switch (tag.field) {
      case v1::NormOp::kKindFieldNumber:
        return ReadInt({"op", "kind"}, tag, op.kind);
      case v1::NormOp::kEpsFieldNumber:
        return ReadFloat({"op", "eps"}, tag, op.eps.emplace());
      case v1::NormOp::kGroupSizeFieldNumber:
        return ReadInt({"op", "group_size"}, tag, op.group_size);
      case v1::NormOp::kGateActivationFieldNumber:
        return ReadInt({"op", "gate_activation"}, tag, op.gate_activation);
      case v1::NormOp::kGateOrderFieldNumber:
        return ReadInt({"op", "gate_order"}, tag, op.gate_order);
      case v1::NormOp::kWeightOffsetFieldNumber:
        return ReadFloat({"op", "weight_offset"}, tag, op.weight_offset);
      case v1::NormOp::kRoundBeforeWeightFieldNumber:
        return ReadInt({"op", "round_before_weight"}, tag, op.round_before_weight);
      case v1::NormOp::kPathFieldNumber:
        return ReadInt({"op", "path"}, tag, op.path);
      default:
        return SkipUnknown("op", tag);
    }
  }

  absl::Status ReadTensorField(absl::string_view name, const WireTag& tag, TensorHeader& tensor) {
    switch (tag.field) {
      case v1::Tensor::kDtypeFieldNumber:
        return ReadInt({name, "dtype"}, tag, tensor.dtype);
      case v1::Tensor::kShapeFieldNumber:
        return ReadShape({name, "shape"}, tag, tensor.shape);
      case v1::Tensor::kBufferFieldNumber:
        return SkipMessage({name, "buffer"}, tag, tensor.has_buffer);
      case v1::Tensor::kConstantFieldNumber:
        return SkipMessage({name, "constant"}, tag, tensor.has_constant);
      case v1::Tensor::kInlineFieldNumber: {
        const Path path{name, "inline"};
        if (tag.type != WireType::kBytes) return WrongType(path);
        int64_t bytes = 0;
        if (!reader_.ReadLength(bytes)) return Malformed(path);
        tensor.has_inline = true;
        tensor.data = reader_.ReadBytes(bytes);
        return absl::OkStatus();
      }
      default:
        return SkipUnknown(name, tag);
    }
  }

  absl::Status ReadOutputField(absl::string_view name, const WireTag& tag, OutputHeader& output) {
    switch (tag.field) {
      case v1::Output::kInlineFieldNumber:
        return SkipMessage({name, "inline"}, tag, output.has_inline);
      case v1::Output::kBufferFieldNumber:
        return SkipMessage({name, "buffer"}, tag, output.has_buffer);
      case v1::Output::kDtypeFieldNumber:
        return ReadInt({name, "dtype"}, tag, output.dtype);
      default:
        return SkipUnknown(name, tag);
    }
  }

  // Packed or one by one; both may come, and add up.
  absl::Status ReadShape(const Path& path, const WireTag& tag, Shape& shape) {
    if (tag.type == WireType::kVarint) return ReadDimension(path, shape);
    if (tag.type != WireType::kBytes) return WrongType(path);
    int64_t bytes = 0;
    if (!reader_.ReadLength(bytes)) return Malformed(path);
    const int64_t outer = reader_.PushLimit(bytes);
    while (!reader_.AtEnd()) {
      if (absl::Status status = ReadDimension(path, shape); !status.ok()) return status;
    }
    reader_.PopLimit(outer);
    return absl::OkStatus();
  }

  absl::Status ReadDimension(const Path& path, Shape& shape) {
    if (shape.rank == kMaxRank) {
      return FieldError(path.Text(), absl::StrCat("has more than ", kMaxRank, " dimensions"));
    }
    uint64_t value = 0;
    if (!reader_.ReadVarint(value)) return Malformed(path);
    shape.dimensions[shape.rank++] = static_cast<int64_t>(value);
    return absl::OkStatus();
  }

  // int64, enum (the low 32 bits, as the generated parser does) or bool (anything but 0).
  template <typename Int>
  absl::Status ReadInt(const Path& path, const WireTag& tag, Int& value) {
    if (tag.type != WireType::kVarint) return WrongType(path);
    uint64_t raw = 0;
    if (!reader_.ReadVarint(raw)) return Malformed(path);
    value = static_cast<Int>(raw);
    return absl::OkStatus();
  }

  absl::Status ReadFloat(const Path& path, const WireTag& tag, float& value) {
    if (tag.type != WireType::kFixed32) return WrongType(path);
    uint32_t raw = 0;
    if (!reader_.ReadFixed32(raw)) return Malformed(path);
    value = std::bit_cast<float>(raw);
    return absl::OkStatus();
  }

  // A message that is not read, but has to be one.
  absl::Status SkipMessage(const Path& path, const WireTag& tag, bool& present) {
    if (tag.type != WireType::kBytes) return WrongType(path);
    present = true;
    int64_t bytes = 0;
    if (!reader_.ReadLength(bytes)) return Malformed(path);
    const int64_t outer = reader_.PushLimit(bytes);
    while (!reader_.AtEnd()) {
      WireTag inner;
      if (absl::Status status = NextTag(path.parent, inner); !status.ok()) return status;
      if (!reader_.Skip(inner.type)) return Malformed(path);
    }
    reader_.PopLimit(outer);
    return absl::OkStatus();
  }

  absl::Status SkipUnknown(absl::string_view message, const WireTag& tag) {
    if (reader_.Skip(tag.type)) return absl::OkStatus();
    return Malformed({message, absl::StrCat("field ", tag.field)});
  }

  static absl::Status WrongType(const Path& path) {
    return FieldError(path.Text(), "has the wire type of another type");
  }

  WireReader reader_;
  RequestHeader header_;
  int fields_ = 0;
};

}  // namespace

absl::StatusOr<RequestHeader> Decode(absl::Span<const grpc::Slice> slices, Direction direction) {
  return Decoder(slices, direction).Run();
}

}  // namespace normd
