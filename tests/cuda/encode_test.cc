#include "kernels/cuda/encode.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/cuda/specs.h"

namespace normd::cuda {
namespace {

void* At(uintptr_t address) { return reinterpret_cast<void*>(address); }

Segment TwoRows(int64_t stride) {
  Segment segment;
  segment.rows = 2;
  segment.x = {At(0x1000), stride};
  segment.y = {At(0x2000), stride};
  return segment;
}

bool Aligned(const NormSpec& spec, const Segment& segment) {
  return AlignedRows(spec, MakePlan(spec), segment);
}

TEST(EncodeTest, WholeVectorsAreAligned) {
  EXPECT_TRUE(Aligned(ForwardSpec(128), TwoRows(128)));
  EXPECT_TRUE(Aligned(ForwardSpec(128), TwoRows(136)));
}

TEST(EncodeTest, AnAddressWithinAVectorIsNotAligned) {
  Segment segment = TwoRows(128);
  segment.y.data = At(0x2002);
  EXPECT_FALSE(Aligned(ForwardSpec(128), segment));
}

TEST(EncodeTest, AStrideWithinAVectorIsNotAligned) {
  EXPECT_FALSE(Aligned(ForwardSpec(128), TwoRows(129)));
  EXPECT_FALSE(Aligned(ForwardSpec(128), TwoRows((int64_t{1} << 62) + 1)));
}

TEST(EncodeTest, TheStrideOfOneRowDoesNotMatter) {
  Segment segment = TwoRows(129);
  segment.rows = 1;
  EXPECT_TRUE(Aligned(ForwardSpec(128), segment));
}

TEST(EncodeTest, GroupsThatEndWithinAVectorAreNotAligned) {
  NormSpec spec = ForwardSpec(128);
  spec.group = 4;  // 8 bytes
  EXPECT_FALSE(Aligned(spec, TwoRows(128)));
  EXPECT_FALSE(AlignedParameters(spec, MakePlan(spec), TwoRows(128)));
  spec = ForwardSpec(128, DataType::kFloat32);
  spec.group = 4;  // 16 bytes
  EXPECT_TRUE(Aligned(spec, TwoRows(128)));
}

TEST(EncodeTest, ParametersAreJudgedApart) {
  NormSpec spec = ForwardSpec(128);
  spec.has_weight = true;
  Segment segment = TwoRows(128);
  segment.weight = At(0x3002);
  EXPECT_TRUE(Aligned(spec, segment));
  EXPECT_FALSE(AlignedParameters(spec, MakePlan(spec), segment));
}

TEST(EncodeTest, TheHeaderSaysWhatTheSpecSays) {
  NormSpec spec = Gated(BackwardSpec(96, DataType::kFloat16), GateOrder::kGateThenNorm);
  spec.group = 32;
  spec.weight_offset = 1;
  spec.want_dz = true;
  spec.has_statistics = true;
  const LaunchHeader header = EncodeHeader(spec, MakePlan(spec));
  EXPECT_EQ(header.width, 96);
  EXPECT_EQ(header.group, 32);
  EXPECT_EQ(header.groups, 3);
  EXPECT_EQ(header.inverse_group, 1.0f / 32);
  EXPECT_EQ(header.weight_offset, 1.0f);
  EXPECT_EQ(header.dtype, DataType::kFloat16);
  EXPECT_TRUE(header.silu);
  EXPECT_TRUE(header.want_dx && header.want_dz && header.want_dweight && header.want_dbias);
  EXPECT_TRUE(header.has_weight && header.has_bias && header.has_statistics);
  EXPECT_FALSE(header.want_y || header.want_dresidual || header.has_residual);
}

TEST(EncodeTest, ASegmentKeepsItsRowsPointersAndStrides) {
  const NormSpec spec = ForwardSpec(128);
  const Plan plan = MakePlan(spec);
  const ForwardSegment encoded = EncodeForward(spec, plan, TwoRows(128));
  EXPECT_EQ(encoded.rows, 2);
  EXPECT_EQ(encoded.strips, StripsOf(plan, 2));
  EXPECT_EQ(encoded.x.data, At(0x1000));
  EXPECT_EQ(encoded.y.row_stride, 128);
  EXPECT_EQ(encoded.mean, nullptr);
}

}  // namespace
}  // namespace normd::cuda
