#include <gtest/gtest.h>

#include "kernels/norm_spec.h"

namespace normd {
namespace {

NormSpec Spec(Direction direction) {
  NormSpec spec;
  spec.direction = direction;
  spec.width = 16;
  spec.group = 8;
  spec.dtype = DataType::kBFloat16;
  spec.z_dtype = DataType::kFloat16;
  return spec;
}

TEST(BytesMovedTest, ForwardReadsXAndWritesWhatIsWanted) {
  NormSpec spec = Spec(Direction::kForward);
  spec.want_y = true;
  EXPECT_EQ(BytesMoved(spec, 10), 2 * 10 * 16 * 2);
  spec.want_mean = spec.want_rstd = true;
  EXPECT_EQ(BytesMoved(spec, 10), 2 * 10 * 16 * 2 + 2 * 10 * 2 * 4);
}

TEST(BytesMovedTest, ForwardCountsParametersOnce) {
  NormSpec spec = Spec(Direction::kForward);
  spec.want_y = spec.has_weight = spec.has_bias = true;
  spec.bias_dtype = DataType::kFloat16;
  EXPECT_EQ(BytesMoved(spec, 10), 2 * 10 * 16 * 2 + 16 * 4 + 16 * 2);
  EXPECT_EQ(BytesMoved(spec, 0), 16 * 4 + 16 * 2);
}

TEST(BytesMovedTest, ForwardCountsGateAndResidual) {
  NormSpec spec = Spec(Direction::kForward);
  spec.want_y = spec.has_residual = spec.want_residual_out = true;
  spec.gate = GateActivation::kSilu;
  spec.gate_order = GateOrder::kNormThenGate;
  EXPECT_EQ(BytesMoved(spec, 1), 5 * 16 * 2);  // x, residual, z, y, residual_out
}

TEST(BytesMovedTest, BackwardCountsEachDtypeByItsSize) {
  NormSpec spec = Spec(Direction::kBackward);
  spec.want_dx = true;
  EXPECT_EQ(BytesMoved(spec, 10), 160 * (2 + 4 + 2));  // x, dy, dx
  spec.has_statistics = true;
  EXPECT_EQ(BytesMoved(spec, 10), 160 * 8 + 2 * 20 * 4);
  spec.kind = NormKind::kRmsNorm;
  EXPECT_EQ(BytesMoved(spec, 10), 160 * 8 + 20 * 4);
}

TEST(BytesMovedTest, BackwardCountsParameterGradients) {
  NormSpec spec = Spec(Direction::kBackward);
  spec.has_weight = spec.has_bias = spec.want_dweight = spec.want_dbias = true;
  spec.weight_dtype = DataType::kBFloat16;
  // x and dy; weight; dweight and dbias in fp32. The bias is not read: only dz needs it.
  EXPECT_EQ(BytesMoved(spec, 10), 160 * (2 + 4) + 16 * 2 + 2 * 16 * 4);
}

TEST(BytesMovedTest, BackwardCountsGateAndResidual) {
  NormSpec spec = Spec(Direction::kBackward);
  spec.gate = GateActivation::kSigmoid;
  spec.gate_order = GateOrder::kNormThenGate;
  spec.want_dz = spec.has_bias = true;
  EXPECT_EQ(BytesMoved(spec, 1), 16 * (2 + 2 + 4 + 2) + 16 * 4);  // x, z, dy, dz; bias
  spec.want_dz = spec.has_bias = false;
  spec.has_residual = spec.has_dresidual_out = spec.want_dx = spec.want_dresidual = true;
  // x, z, dy, dresidual_out, dx, dresidual
  EXPECT_EQ(BytesMoved(spec, 1), 16 * (2 + 2 + 4 + 2 + 2 + 2));
}

TEST(BytesMovedTest, CountsInSixtyFourBits) {
  NormSpec spec = Spec(Direction::kForward);
  spec.width = spec.group = kMaxWidth;
  spec.want_y = true;
  EXPECT_EQ(BytesMoved(spec, 1 << 20), int64_t{1} << 46);
}

}  // namespace
}  // namespace normd
