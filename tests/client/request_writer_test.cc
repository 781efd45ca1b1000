#include "client/cpp/request_writer.h"

#include <sys/mman.h>

#include <cstdint>
#include <string>
#include <vector>

#include "client/cpp/calls.h"
#include "client/cpp/loan.h"
#include "gtest/gtest.h"
#include "normd/v1/norm.pb.h"

namespace normd {
namespace {

std::string Joined(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(message.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

std::string FieldsWithEps() {
  v1::ForwardRequest fields;
  fields.mutable_op()->set_eps(0.5F);
  return fields.SerializeAsString();
}

TEST(RequestWriter, WritesWhatTheGeneratedParserReads) {
  const std::vector<float> small = {1, 2, 3, 4};
  const std::vector<float> large(1 << 16, 7.0F);
  Loan loan;
  RequestWriter writer(FieldsWithEps(), loan);
  writer.Add(v1::ForwardRequest::kXFieldNumber, View(DataType::kFloat32, {1 << 14, 4}, large));
  writer.Add(v1::ForwardRequest::kWeightFieldNumber, View(DataType::kFloat32, {4}, small));
  writer.Add(v1::ForwardRequest::kZFieldNumber,
             View(DataType::kBFloat16, {0, 4}, std::vector<uint16_t>()));
  grpc::ByteBuffer message;
  ASSERT_TRUE(writer.Finish(message).ok());

  v1::ForwardRequest parsed;
  ASSERT_TRUE(parsed.ParseFromString(Joined(message)));
  EXPECT_EQ(parsed.op().eps(), 0.5F);
  EXPECT_EQ(parsed.x().dtype(), v1::DATA_TYPE_FLOAT32);
  ASSERT_EQ(parsed.x().shape_size(), 2);
  EXPECT_EQ(parsed.x().shape(0), 1 << 14);
  EXPECT_EQ(parsed.x().inline_().size(), large.size() * sizeof(float));
  EXPECT_EQ(parsed.x().inline_().compare(0, std::string::npos,
                                         reinterpret_cast<const char*>(large.data()),
                                         large.size() * sizeof(float)),
            0);
  EXPECT_EQ(parsed.weight().inline_().size(), 16U);
  EXPECT_EQ(parsed.z().dtype(), v1::DATA_TYPE_BFLOAT16);
  EXPECT_TRUE(parsed.z().has_inline_()) << "an empty tensor still says that it is inline";
  EXPECT_FALSE(parsed.has_bias());
}

TEST(RequestWriter, LendsLargePayloadsWithoutACopy) {
  const std::vector<float> large(1 << 16, 7.0F);
  Loan loan;
  RequestWriter writer(FieldsWithEps(), loan);
  writer.Add(v1::ForwardRequest::kXFieldNumber, View(DataType::kFloat32, {1 << 16}, large));
  grpc::ByteBuffer message;
  ASSERT_TRUE(writer.Finish(message).ok());
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(message.Dump(&slices).ok());
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_EQ(static_cast<const void*>(slices[1].begin()), static_cast<const void*>(large.data()));
}

TEST(RequestWriter, RefusesMessagesOverTwoGigabytes) {
  constexpr size_t kBytes = size_t{1} << 30;
  // Reserved, never touched: the refusal must come before anything is read.
  void* reserved =
      mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(reserved, MAP_FAILED);
  {
    const Operand half{DataType::kFloat32,
                       {1 << 20, 1 << 8},
                       absl::MakeConstSpan(static_cast<const std::byte*>(reserved), kBytes)};
    Loan loan;
    RequestWriter writer(FieldsWithEps(), loan);
    writer.Add(v1::ForwardRequest::kXFieldNumber, half);
    writer.Add(v1::ForwardRequest::kZFieldNumber, half);
    grpc::ByteBuffer message;
    EXPECT_EQ(writer.Finish(message).code(), absl::StatusCode::kResourceExhausted);
  }
  munmap(reserved, kBytes);
}

}  // namespace
}  // namespace normd
