#include "server/rpc/decode.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/field_error.h"
#include "normd/v1/norm.pb.h"
#include "tests/server/random_messages.h"
#include "tests/server/requests.h"

namespace normd {
namespace {

using ::testing::StartsWith;

std::string Bytes(absl::Span<const grpc::Slice> slices, const WireBytes& at) {
  std::string bytes(static_cast<size_t>(at.bytes), '\0');
  Gather(slices, at, reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

uint32_t Bits(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

void ExpectSameOp(const OpHeader& read, const v1::NormOp& op) {
  EXPECT_EQ(read.kind, op.kind());
  ASSERT_EQ(read.eps.has_value(), op.has_eps());
  EXPECT_EQ(Bits(read.eps.value_or(0)), Bits(op.eps()));
  EXPECT_EQ(read.group_size, op.group_size());
  EXPECT_EQ(read.gate_activation, op.gate_activation());
  EXPECT_EQ(read.gate_order, op.gate_order());
  EXPECT_EQ(Bits(read.weight_offset), Bits(op.weight_offset()));
  EXPECT_EQ(read.round_before_weight, op.round_before_weight());
  EXPECT_EQ(read.path, op.path());
}

void ExpectSameTensor(const TensorHeader& read, const v1::Tensor& tensor,
                      absl::Span<const grpc::Slice> slices) {
  EXPECT_EQ(read.dtype, tensor.dtype());
  EXPECT_EQ(std::vector<int64_t>(read.shape.span().begin(), read.shape.span().end()),
            std::vector<int64_t>(tensor.shape().begin(), tensor.shape().end()));
  EXPECT_EQ(read.has_inline, tensor.has_inline_());
  EXPECT_EQ(read.has_buffer, tensor.has_buffer());
  EXPECT_EQ(read.has_constant, tensor.has_constant());
  EXPECT_EQ(Bytes(slices, read.data), tensor.inline_());
}

void ExpectSameOutput(const OutputHeader& read, const v1::Output& output) {
  EXPECT_EQ(read.dtype, output.dtype());
  EXPECT_EQ(read.has_inline, output.has_inline_());
  EXPECT_EQ(read.has_buffer, output.has_buffer());
}

template <typename Request>
void ExpectSame(const RequestHeader& read, const Request& request,
                absl::Span<const grpc::Slice> slices) {
  const auto& reflection = *request.GetReflection();
  const auto field_of = [&](const char* name) {
    return request.GetDescriptor()->FindFieldByName(name);
  };
  EXPECT_EQ(read.op.present, request.has_op());
  ExpectSameOp(read.op, request.op());
  for (const TensorField& field : TensorFields(read.direction)) {
    SCOPED_TRACE(field.name);
    const auto* descriptor = field_of(field.name);
    EXPECT_EQ((read.*field.member).present, reflection.HasField(request, descriptor));
    ExpectSameTensor(read.*field.member,
                     static_cast<const v1::Tensor&>(reflection.GetMessage(request, descriptor)),
                     slices);
  }
  for (const OutputField& field : OutputFields(read.direction)) {
    SCOPED_TRACE(field.name);
    const auto* descriptor = field_of(field.name);
    EXPECT_EQ((read.*field.member).present, reflection.HasField(request, descriptor));
    ExpectSameOutput(read.*field.member,
                     static_cast<const v1::Output&>(reflection.GetMessage(request, descriptor)));
  }
}

// Every field of the generated message is one that the tables and ReadRequestField know.
TEST(Decode, TablesHaveEveryField) {
  EXPECT_EQ(1 + TensorFields(Direction::kForward).size() + OutputFields(Direction::kForward).size(),
            static_cast<size_t>(v1::ForwardRequest::descriptor()->field_count()));
  EXPECT_EQ(
      1 + TensorFields(Direction::kBackward).size() + OutputFields(Direction::kBackward).size(),
      static_cast<size_t>(v1::BackwardRequest::descriptor()->field_count()));
}

template <typename Request>
void CompareWithGeneratedParser(Direction direction, uint32_t seed) {
  std::mt19937 random(seed);
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << " round " << round);
    Request request;
    FillRandomly(request, random);
    const std::string bytes = SerializeShuffled(request, random);
    Request parsed;
    ASSERT_TRUE(parsed.ParseFromString(bytes));
    const auto slices = round % 3 == 0 ? CutEvery(bytes, 1) : CutAnywhere(bytes, random);
    const auto read = Decode(slices, direction);
    ASSERT_TRUE(read.ok()) << read.status();
    ExpectSame(*read, parsed, slices);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Decode, AgreesWithTheGeneratedParserForward) {
  CompareWithGeneratedParser<v1::ForwardRequest>(Direction::kForward, 20240501);
}

TEST(Decode, AgreesWithTheGeneratedParserBackward) {
  CompareWithGeneratedParser<v1::BackwardRequest>(Direction::kBackward, 20240502);
}

TEST(Decode, TakesTheLastOfARepeatedScalar) {
  v1::ForwardRequest request;
  request.mutable_op()->set_eps(1);
  std::string op = request.op().SerializeAsString();
  request.mutable_op()->set_eps(2);
  op += request.op().SerializeAsString();
  const std::string bytes =
      std::string("\x0a", 1) + static_cast<char>(op.size()) + op;  // field 1, the op twice over
  const auto read = Decode(CutEvery(bytes, 4), Direction::kForward);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->op.eps, 2.0F);
}

TEST(Decode, RefusesAMessageFieldGivenTwice) {
  const std::string bytes = LayerNormRequest(1, 4).SerializeAsString();
  const auto read = Decode(CutEvery(bytes + bytes, 64), Direction::kForward);
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(read.status()), "op");
  EXPECT_EQ(DescriptionOf(read.status()), "is given twice");
}

TEST(Decode, NotesEveryStorageThatIsGiven) {
  v1::ForwardRequest request;
  request.mutable_x()->mutable_buffer()->set_id("0123456789abcdef");
  std::string x = request.x().SerializeAsString();
  request.mutable_x()->set_inline_("data");
  x += request.x().SerializeAsString();
  const std::string bytes = std::string("\x5a", 1) + static_cast<char>(x.size()) + x;
  const auto read = Decode(CutEvery(bytes, 3), Direction::kForward);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->x.has_inline);
  EXPECT_TRUE(read->x.has_buffer);
}

TEST(Decode, CutOffAnywhereIsAnErrorOrAShorterMessage) {
  for (const std::string& bytes :
       {LayerNormRequest(2, 3).SerializeAsString(), GatedRequest(2, 3).SerializeAsString()}) {
    int shorter = 0;
    for (size_t length = 0; length < bytes.size(); ++length) {
      const std::string prefix = bytes.substr(0, length);
      v1::ForwardRequest parsed;
      const bool whole = parsed.ParseFromString(prefix);
      const auto slices = CutEvery(prefix, 5);
      const auto read = Decode(slices, Direction::kForward);
      ASSERT_EQ(read.ok(), whole) << "at " << length << ": " << read.status();
      shorter += whole ? 1 : 0;
      if (whole) {
        ExpectSame(*read, parsed, slices);
      } else {
        EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
        EXPECT_NE(FieldOf(read.status()), "");
      }
    }
    EXPECT_LT(shorter, 10);  // only between top-level fields
  }
}

// What it accepts, the generated parser accepts and reads the same.
void ExpectDecodedOrRefused(const std::string& bytes, std::mt19937& random) {
  const auto slices = CutAnywhere(bytes, random);
  const auto read = Decode(slices, Direction::kForward);
  if (!read.ok()) {
    ASSERT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
    return;
  }
  v1::ForwardRequest parsed;
  ASSERT_TRUE(parsed.ParseFromString(bytes));
}

TEST(Decode, SurvivesGarbage) {
  std::mt19937 random(7);
  for (int round = 0; round < 50'000; ++round) {
    std::string bytes(random() % 64, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    ExpectDecodedOrRefused(bytes, random);
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

TEST(Decode, SurvivesDamage) {
  std::mt19937 random(8);
  const std::string whole = GatedRequest(1, 4).SerializeAsString();
  for (int round = 0; round < 50'000; ++round) {
    std::string bytes = whole;
    for (auto damage = 1 + random() % 4; damage > 0; --damage) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    ExpectDecodedOrRefused(bytes, random);
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

// One field of the request that is cut off, malformed, or above a limit.
struct BadBytes {
  const char* name;
  std::string bytes;
  const char* field;
  const char* description;
};

std::string Varints(size_t count) { return std::string(count, '\x01'); }

std::vector<BadBytes> AllBadBytes() {
  const std::string op_tag = "\x0a", x_tag = "\x5a";
  const auto message = [](const std::string& tag, const std::string& inner) {
    return tag + static_cast<char>(inner.size()) + inner;
  };
  std::string many_fields;
  for (int i = 0; i <= kMaxFields; ++i) many_fields += "\xf8\x06\x01";  // field 111
  return {
      {"field_zero", std::string("\x00\x01", 2), "request", "is cut off"},
      {"group", "\x0b\x0c", "request", "is cut off"},
      {"wire_type_7", "\x0f", "request", "is cut off"},
      {"varint_of_11_bytes", std::string(10, '\xff') + "\x01", "request", "is cut off"},
      {"op_is_a_number", "\x08\x01", "op", "has the wire type"},
      {"op_longer_than_the_message", op_tag + "\x7f", "op", "is cut off"},
      {"kind_is_bytes", message(op_tag, std::string("\x0a\x00", 2)), "op.kind",
       "has the wire type"},
      {"eps_is_a_varint", message(op_tag, "\x10\x01"), "op.eps", "has the wire type"},
      {"eps_cut_off", message(op_tag, std::string("\x15\x00\x00", 3)), "op.eps", "is cut off"},
      {"group_size_cut_off", message(op_tag, "\x18\xff"), "op.group_size", "is cut off"},
      {"unknown_in_op_cut_off", message(op_tag, "\xfa\x06\x7f"), "op.field 111", "is cut off"},
      {"rank_9_packed", message(x_tag, "\x12\x09" + Varints(9)), "x.shape", "has more than 8"},
      {"rank_9_one_by_one",
       message(x_tag,
               "\x10\x01\x10\x01\x10\x01\x10\x01\x10\x01\x10\x01"
               "\x10\x01\x10\x01\x10\x01"),
       "x.shape", "has more than 8"},
      {"dimension_crosses_the_packed_end", message(x_tag, "\x12\x01\xff\x01"), "x.shape",
       "is cut off"},
      {"shape_is_fixed32", message(x_tag, std::string("\x15\x00\x00\x00\x00", 5)), "x.shape",
       "has the wire type"},
      {"inline_claims_4_gib", message(x_tag, "\x7a\xff\xff\xff\xff\x0f"), "x.inline", "is cut off"},
      {"inline_crosses_the_tensor", message(x_tag, "\x7a\x02") + "ab", "x.inline", "is cut off"},
      {"inline_is_a_number", message(x_tag, "\x78\x01"), "x.inline", "has the wire type"},
      {"buffer_of_garbage", message(x_tag, "\x1a\x01\x0f"), "x", "is cut off"},
      {"too_many_fields", many_fields, "request", "has more than 1024 fields"},
  };
}

class BadBytesTest : public testing::TestWithParam<BadBytes> {};

TEST_P(BadBytesTest, IsRefusedByName) {
  const auto read = Decode(CutEvery(GetParam().bytes, 2), Direction::kForward);
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(read.status()), GetParam().field);
  EXPECT_THAT(DescriptionOf(read.status()), StartsWith(GetParam().description));
}

INSTANTIATE_TEST_SUITE_P(Decode, BadBytesTest, testing::ValuesIn(AllBadBytes()),
                         [](const auto& bad) { return std::string(bad.param.name); });

}  // namespace
}  // namespace normd
