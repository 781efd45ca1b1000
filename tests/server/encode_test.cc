#include "server/rpc/encode.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/rpc/decode.h"
#include "server/rpc/staged_request.h"
#include "server/rpc/validate.h"
#include "tests/server/fake_backend.h"
#include "tests/server/requests.h"

namespace normd {
namespace {

std::string Flat(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

std::vector<int64_t> ShapeOf(const v1::Tensor& tensor) {
  return {tensor.shape().begin(), tensor.shape().end()};
}

class EncodeTest : public testing::Test {
 protected:
  template <typename Request>
  StagedRequest StageRequest(const Request& request, Direction direction, size_t slice_bytes = 3) {
    const auto slices = CutEvery(request.SerializeAsString(), slice_bytes);
    const auto header = Decode(slices, direction);
    const auto checked = ValidateRequest(*header);
    auto staged = Stage(*header, *checked, slices, *arena_);
    EXPECT_TRUE(staged.ok()) << staged.status();
    return *std::move(staged);
  }

  static std::string Inline(const void* data, size_t bytes) {
    return std::string(static_cast<const char*>(data), bytes);
  }

  FakeBackend backend_;
  std::unique_ptr<StagingArena> arena_ = *StagingArena::Create(backend_, 1 << 16);
};

// Elements straddle slices of 3 bytes; in the block they lie whole, aligned and in place.
TEST_F(EncodeTest, OperandsAreGatheredWhole) {
  const v1::ForwardRequest request = LayerNormRequest(5, 7);
  for (const size_t slice_bytes : {size_t{1}, size_t{3}, size_t{64}, size_t{100000}}) {
    const StagedRequest staged = StageRequest(request, Direction::kForward, slice_bytes);
    const Segment& segment = staged.segment;
    EXPECT_EQ(Inline(segment.x.data, 5 * 7 * 4), request.x().inline_());
    EXPECT_EQ(Inline(segment.weight, 7 * 4), request.weight().inline_());
    EXPECT_EQ(Inline(segment.bias, 7 * 4), request.bias().inline_());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(segment.x.data) % 256, 0U);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(segment.weight) % 256, 0U);
    EXPECT_EQ(segment.rows, 5);
    EXPECT_EQ(segment.eps, 1e-5F);
    EXPECT_EQ(segment.z.data, nullptr);
    EXPECT_EQ(segment.residual_out.data, nullptr);
  }
}

TEST_F(EncodeTest, TheGeneratedParserReadsTheReply) {
  v1::ForwardRequest request = LayerNormRequest(6, 4);
  request.mutable_x()->clear_shape();
  for (const int64_t dimension : {2, 3, 4}) request.mutable_x()->add_shape(dimension);
  const StagedRequest staged = StageRequest(request, Direction::kForward);
  std::memset(staged.segment.y.data, 'y', 6 * 4 * 4);
  std::memset(staged.segment.mean_out, 'm', 6 * 4);
  std::memset(staged.segment.rstd_out, 'r', 6 * 4);
  v1::Execution execution;
  execution.set_device("fake:0");
  execution.set_batch_rows(6);

  v1::ForwardResponse response;
  ASSERT_TRUE(response.ParseFromString(Flat(EncodeReply(staged, execution))));
  EXPECT_EQ(response.execution().SerializeAsString(), execution.SerializeAsString());
  EXPECT_EQ(response.y().dtype(), v1::DATA_TYPE_FLOAT32);
  EXPECT_EQ(ShapeOf(response.y()), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(response.y().inline_(), std::string(6 * 4 * 4, 'y'));
  EXPECT_EQ(ShapeOf(response.mean()), (std::vector<int64_t>{6, 1}));
  EXPECT_EQ(response.mean().inline_(), std::string(6 * 4, 'm'));
  EXPECT_EQ(response.rstd().inline_(), std::string(6 * 4, 'r'));
  EXPECT_FALSE(response.has_residual_out());
}

TEST_F(EncodeTest, GradientsHaveTheDtypesAskedFor) {
  v1::BackwardRequest request = LayerNormBackwardRequest(3, 4);
  request.mutable_weight()->set_dtype(v1::DATA_TYPE_BFLOAT16);
  request.mutable_weight()->mutable_inline_()->resize(4 * 2);
  request.mutable_bias()->set_dtype(v1::DATA_TYPE_FLOAT16);
  request.mutable_bias()->mutable_inline_()->resize(4 * 2);
  request.mutable_dbias()->set_dtype(v1::DATA_TYPE_FLOAT32);
  const StagedRequest staged = StageRequest(request, Direction::kBackward);

  v1::BackwardResponse response;
  ASSERT_TRUE(response.ParseFromString(Flat(EncodeReply(staged, {}))));
  EXPECT_EQ(response.dx().inline_().size(), 3U * 4 * 4);
  EXPECT_EQ(response.dweight().dtype(), v1::DATA_TYPE_BFLOAT16);
  EXPECT_EQ(response.dweight().inline_().size(), 4U * 2);
  EXPECT_EQ(response.dbias().dtype(), v1::DATA_TYPE_FLOAT32);
  EXPECT_EQ(response.dbias().inline_().size(), 4U * 4);
  EXPECT_EQ(ShapeOf(response.dbias()), (std::vector<int64_t>{4}));
}

// Also for shapes whose other dimensions would overflow.
TEST_F(EncodeTest, NoRowsAreAnEmptyTensor) {
  constexpr int64_t kBig = int64_t{1} << 62;
  v1::ForwardRequest request = LayerNormRequest(0, 4);
  request.mutable_x()->clear_shape();
  for (const int64_t dimension : {kBig, kBig, int64_t{0}, int64_t{4}}) {
    request.mutable_x()->add_shape(dimension);
  }
  const StagedRequest staged = StageRequest(request, Direction::kForward);
  v1::ForwardResponse response;
  ASSERT_TRUE(response.ParseFromString(Flat(EncodeReply(staged, {}))));
  EXPECT_TRUE(response.y().has_inline_());
  EXPECT_EQ(response.y().inline_(), "");
  EXPECT_EQ(ShapeOf(response.y()), (std::vector<int64_t>{kBig, kBig, 0, 4}));
  EXPECT_EQ(ShapeOf(response.mean()), (std::vector<int64_t>{0, 1}));
}

TEST_F(EncodeTest, TheBlockGoesBackWithTheLastByteOfTheReply) {
  grpc::ByteBuffer reply;
  {
    const StagedRequest staged = StageRequest(LayerNormRequest(5, 7), Direction::kForward);
    grpc::ByteBuffer encoded = EncodeReply(staged, {});
    reply.Swap(&encoded);
  }
  EXPECT_GT(arena_->used_bytes(), 0);
  reply.Clear();
  EXPECT_EQ(arena_->used_bytes(), 0);
}

TEST_F(EncodeTest, ARequestLargerThanTheArenaNamesTheLimit) {
  const auto slices = CutEvery(LayerNormRequest(64, 256).SerializeAsString(), 8192);
  const auto header = Decode(slices, Direction::kForward);
  const auto staged = Stage(*header, *ValidateRequest(*header), slices, *arena_);
  EXPECT_EQ(staged.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(staged.status().message().find("65536"), absl::string_view::npos) << staged.status();
}

}  // namespace
}  // namespace normd
