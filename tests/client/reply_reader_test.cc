#include "client/cpp/reply_reader.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/field_error.h"
#include "normd/v1/norm.pb.h"

namespace normd {
namespace {

// Cut into slices of `slice_bytes`, as a transport would.
grpc::ByteBuffer Sliced(const std::string& bytes, size_t slice_bytes) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += slice_bytes) {
    slices.emplace_back(bytes.substr(at, slice_bytes));
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

void SetTensor(v1::Tensor& tensor, const std::vector<float>& values) {
  tensor.set_dtype(v1::DATA_TYPE_FLOAT32);
  tensor.add_shape(static_cast<int64_t>(values.size()) / 2);
  tensor.add_shape(2);
  tensor.set_inline_(values.data(), values.size() * sizeof(float));
}

v1::ForwardResponse Response() {
  v1::ForwardResponse response;
  SetTensor(*response.mutable_y(), {1, 2, 3, 4});
  response.mutable_execution()->mutable_timings()->set_kernel_ns(1500);
  response.mutable_execution()->set_batch_rows(2);
  response.mutable_execution()->set_device("cpu");
  return response;
}

// The output y alone, read from `bytes`.
struct Read {
  explicit Read(const std::string& bytes, Output output = Output::Owned(), size_t slice_bytes = 64)
      : wanted(output) {
    grpc::ByteBuffer reply = Sliced(bytes, slice_bytes);
    const Expected expected[] = {{v1::ForwardResponse::kYFieldNumber, "y", &wanted, &y}};
    status = ReadReply(reply, expected, execution);
  }

  Output wanted;
  std::optional<Tensor> y;
  Execution execution;
  absl::Status status;
};

TEST(ReplyReader, ReadsAcrossSlicesOfAnySize) {
  const std::string bytes = Response().SerializeAsString();
  for (size_t slice_bytes = 1; slice_bytes <= bytes.size(); ++slice_bytes) {
    const Read read(bytes, Output::Owned(), slice_bytes);
    ASSERT_TRUE(read.status.ok()) << slice_bytes << " " << read.status;
    EXPECT_EQ(read.y->shape, (std::vector<int64_t>{2, 2}));
    EXPECT_EQ(std::vector<float>(read.y->As<float>().begin(), read.y->As<float>().end()),
              (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(read.execution.kernel, absl::Microseconds(1.5));
    EXPECT_EQ(read.execution.batch_rows, 2);
    EXPECT_EQ(read.execution.device, "cpu");
  }
}

TEST(ReplyReader, ReadsFieldsInAnyOrderAndSkipsUnknownOnes) {
  v1::ForwardResponse tensor;
  SetTensor(*tensor.mutable_y(), {5, 6});
  v1::ForwardResponse execution;
  execution.mutable_execution()->set_kernel("row_tiled");
  // Field 200, each wire type.
  const std::string unknown(
      "\xC0\x0C\x01"
      "\xC1\x0C"
      "12345678"
      "\xC2\x0C\x02"
      "ab"
      "\xC5\x0C"
      "1234");
  const Read read(tensor.SerializeAsString() + unknown + execution.SerializeAsString());
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.y->As<float>()[1], 6.0F);
  EXPECT_EQ(read.execution.kernel_name, "row_tiled");
}

TEST(ReplyReader, WritesIntoTheCallersMemory) {
  std::vector<float> memory(4);
  const Read read(Response().SerializeAsString(), Output::Into(memory));
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(memory, (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(read.y->storage, nullptr);
}

TEST(ReplyReader, NamesTheOutputWhoseMemoryHasAnotherSize) {
  std::vector<float> memory(5, -1.0F);
  const Read read(Response().SerializeAsString(), Output::Into(memory));
  EXPECT_EQ(read.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(read.status), "y");
  EXPECT_EQ(memory, std::vector<float>(5, -1.0F)) << "nothing is written";
}

TEST(ReplyReader, RefusesEveryTruncation) {
  const std::string bytes = Response().SerializeAsString();
  const size_t tensor_begin = Response().execution().ByteSizeLong() + 2;
  for (size_t length = 0; length < bytes.size(); ++length) {
    if (length == tensor_begin) continue;  // a whole message, without y: below
    EXPECT_EQ(Read(bytes.substr(0, length)).status.code(), absl::StatusCode::kInternal) << length;
  }
  EXPECT_EQ(Read(bytes.substr(0, tensor_begin)).status.code(), absl::StatusCode::kInternal)
      << "the output that was wanted is not there";
}

TEST(ReplyReader, RefusesTensorsThatContradictThemselves) {
  const auto code_of = [](auto change) {
    v1::ForwardResponse response = Response();
    change(*response.mutable_y());
    return Read(response.SerializeAsString()).status.code();
  };
  EXPECT_EQ(code_of([](v1::Tensor&) {}), absl::StatusCode::kOk);
  EXPECT_EQ(code_of([](v1::Tensor& y) { y.clear_dtype(); }), absl::StatusCode::kInternal);
  EXPECT_EQ(code_of([](v1::Tensor& y) { y.set_shape(0, 3); }), absl::StatusCode::kInternal);
  EXPECT_EQ(code_of([](v1::Tensor& y) { y.set_shape(0, -2); }), absl::StatusCode::kInternal);
  EXPECT_EQ(code_of([](v1::Tensor& y) { y.set_shape(0, int64_t{1} << 62); }),
            absl::StatusCode::kInternal);
  EXPECT_EQ(code_of([](v1::Tensor& y) { y.mutable_inline_()->push_back('x'); }),
            absl::StatusCode::kInternal);
  EXPECT_EQ(code_of([](v1::Tensor& y) { y.mutable_shape()->Resize(1000, 1); }),
            absl::StatusCode::kInternal);
}

TEST(ReplyReader, ReadsEmptyTensors) {
  v1::ForwardResponse response;
  response.mutable_y()->set_dtype(v1::DATA_TYPE_FLOAT16);
  response.mutable_y()->add_shape(0);
  response.mutable_y()->add_shape(8);
  response.mutable_y()->set_inline_("");
  const Read read(response.SerializeAsString());
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.y->dtype, DataType::kFloat16);
  EXPECT_TRUE(read.y->bytes.empty());
}

}  // namespace
}  // namespace normd
