#include "server/rpc/validate.h"

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/field_error.h"
#include "normd/v1/norm.pb.h"
#include "server/rpc/decode.h"
#include "tests/server/requests.h"

namespace normd {
namespace {

using ::testing::StartsWith;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

template <typename Request>
absl::StatusOr<NormRequest> Judge(const Request& request, Direction direction) {
  const auto header = Decode(CutEvery(request.SerializeAsString(), 4099), direction);
  if (!header.ok()) return header.status();
  return ValidateRequest(*header);
}

absl::StatusOr<NormRequest> Judge(const v1::ForwardRequest& request) {
  return Judge(request, Direction::kForward);
}

absl::StatusOr<NormRequest> Judge(const v1::BackwardRequest& request) {
  return Judge(request, Direction::kBackward);
}

// What makes a right request wrong, and what has to be said about it.
template <typename Request>
struct Fault {
  const char* name;
  std::function<void(Request&)> make;
  const char* field;
  absl::StatusCode code = kInvalid;
};

using Forward = v1::ForwardRequest;
using Backward = v1::BackwardRequest;

void SetShape(v1::Tensor& tensor, const std::vector<int64_t>& shape) {
  tensor.clear_shape();
  for (const int64_t dimension : shape) tensor.add_shape(dimension);
}

void SetKind(v1::NormOp& op, int kind) { op.set_kind(static_cast<v1::NormKind>(kind)); }

std::vector<Fault<Forward>> OpFaults() {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  return {
      {"op_missing", [](Forward& r) { r.clear_op(); }, "op"},
      {"kind_unspecified", [](Forward& r) { r.mutable_op()->clear_kind(); }, "op.kind"},
      {"kind_3", [](Forward& r) { SetKind(*r.mutable_op(), 3); }, "op.kind"},
      {"kind_negative", [](Forward& r) { SetKind(*r.mutable_op(), -1); }, "op.kind"},
      {"eps_missing", [](Forward& r) { r.mutable_op()->clear_eps(); }, "op.eps"},
      {"eps_negative", [](Forward& r) { r.mutable_op()->set_eps(-1e-9F); }, "op.eps"},
      {"eps_nan", [](Forward& r) { r.mutable_op()->set_eps(kNaN); }, "op.eps"},
      {"eps_infinite", [](Forward& r) { r.mutable_op()->set_eps(kInf); }, "op.eps"},
      {"group_negative", [](Forward& r) { r.mutable_op()->set_group_size(-4); }, "op.group_size"},
      {"group_3_of_8", [](Forward& r) { r.mutable_op()->set_group_size(3); }, "op.group_size"},
      {"group_16_of_8", [](Forward& r) { r.mutable_op()->set_group_size(16); }, "op.group_size"},
      {"offset_nan", [](Forward& r) { r.mutable_op()->set_weight_offset(kNaN); },
       "op.weight_offset"},
      {"path_4", [](Forward& r) { r.mutable_op()->set_path(static_cast<v1::KernelPath>(4)); },
       "op.path"},
      {"activation_4",
       [](Forward& r) { r.mutable_op()->set_gate_activation(static_cast<v1::GateActivation>(4)); },
       "op.gate_activation"},
      {"order_3", [](Forward& r) { r.mutable_op()->set_gate_order(static_cast<v1::GateOrder>(3)); },
       "op.gate_order"},
      {"order_without_gate",
       [](Forward& r) { r.mutable_op()->set_gate_order(v1::GATE_ORDER_NORM_THEN_GATE); },
       "op.gate_order"},
      {"activation_without_z",
       [](Forward& r) { r.mutable_op()->set_gate_activation(v1::GATE_ACTIVATION_SILU); },
       "op.gate_activation"},
      {"z_without_activation", [](Forward& r) { *r.mutable_z() = FloatTensor({4, 8}, 1); },
       "op.gate_activation"},
      {"z_with_activation_none",
       [](Forward& r) {
         *r.mutable_z() = FloatTensor({4, 8}, 1);
         r.mutable_op()->set_gate_activation(v1::GATE_ACTIVATION_NONE);
       },
       "op.gate_activation"},
      {"gate_without_order",
       [](Forward& r) {
         *r.mutable_z() = FloatTensor({4, 8}, 1);
         r.mutable_op()->set_gate_activation(v1::GATE_ACTIVATION_SILU);
       },
       "op.gate_order"},
      {"residual_before_gate_then_norm",
       [](Forward& r) {
         *r.mutable_z() = FloatTensor({4, 8}, 1);
         *r.mutable_residual() = FloatTensor({4, 8}, 1);
         r.mutable_op()->set_gate_activation(v1::GATE_ACTIVATION_SILU);
         r.mutable_op()->set_gate_order(v1::GATE_ORDER_GATE_THEN_NORM);
       },
       "residual"},
  };
}

std::vector<Fault<Forward>> TensorFaults() {
  constexpr int64_t kBig = int64_t{1} << 62;
  return {
      {"x_missing", [](Forward& r) { r.clear_x(); }, "x"},
      {"x_without_data", [](Forward& r) { r.mutable_x()->clear_storage(); }, "x"},
      {"x_dtype_unspecified", [](Forward& r) { r.mutable_x()->clear_dtype(); }, "x.dtype"},
      {"x_dtype_4", [](Forward& r) { r.mutable_x()->set_dtype(static_cast<v1::DataType>(4)); },
       "x.dtype"},
      {"x_shape_missing", [](Forward& r) { r.mutable_x()->clear_shape(); }, "x.shape"},
      {"x_rank_9", [](Forward& r) { SetShape(*r.mutable_x(), {1, 1, 1, 1, 1, 1, 1, 4, 8}); },
       "x.shape"},
      {"x_negative_dimension", [](Forward& r) { SetShape(*r.mutable_x(), {-4, -8}); }, "x.shape"},
      {"x_width_0", [](Forward& r) { SetShape(*r.mutable_x(), {4, 0}); }, "x.shape"},
      {"x_rows_overflow", [](Forward& r) { SetShape(*r.mutable_x(), {kBig, 4, 8}); }, "x.shape"},
      {"x_elements_overflow", [](Forward& r) { SetShape(*r.mutable_x(), {kBig, 8}); }, "x.shape"},
      {"x_bytes_overflow", [](Forward& r) { SetShape(*r.mutable_x(), {kBig / 8, 8}); }, "x.shape"},
      {"x_wraps_to_its_bytes", [](Forward& r) { SetShape(*r.mutable_x(), {kBig + 4, 8}); },
       "x.shape"},
      {"x_one_byte_short", [](Forward& r) { r.mutable_x()->mutable_inline_()->pop_back(); },
       "x.inline"},
      {"x_one_byte_more", [](Forward& r) { r.mutable_x()->mutable_inline_()->push_back('a'); },
       "x.inline"},
      {"x_other_dtype_size", [](Forward& r) { r.mutable_x()->set_dtype(v1::DATA_TYPE_BFLOAT16); },
       "x.inline"},
      {"x_wider_than_any",
       [](Forward& r) {
         r.clear_weight();
         r.clear_bias();
         *r.mutable_x() = FloatTensor({1, (1 << 24) + 1}, 1);
       },
       "x.shape"},
      {"x_in_a_buffer", [](Forward& r) { r.mutable_x()->mutable_buffer(); }, "x.buffer",
       kUnimplemented},
      {"weight_constant", [](Forward& r) { r.mutable_weight()->mutable_constant(); },
       "weight.constant", kUnimplemented},
      {"weight_too_long", [](Forward& r) { *r.mutable_weight() = FloatTensor({9}, 1); },
       "weight.shape"},
      {"weight_a_matrix", [](Forward& r) { *r.mutable_weight() = FloatTensor({1, 8}, 1); },
       "weight.shape"},
      {"bias_too_short", [](Forward& r) { *r.mutable_bias() = FloatTensor({7}, 1); }, "bias.shape"},
      {"z_other_rows",
       [](Forward& r) {
         *r.mutable_z() = FloatTensor({3, 8}, 1);
         r.mutable_op()->set_gate_activation(v1::GATE_ACTIVATION_SIGMOID);
         r.mutable_op()->set_gate_order(v1::GATE_ORDER_NORM_THEN_GATE);
       },
       "z.shape"},
      {"z_transposed",
       [](Forward& r) {
         *r.mutable_z() = FloatTensor({8, 4}, 1);
         r.mutable_op()->set_gate_activation(v1::GATE_ACTIVATION_SIGMOID);
         r.mutable_op()->set_gate_order(v1::GATE_ORDER_NORM_THEN_GATE);
       },
       "z.shape"},
      {"residual_other_shape", [](Forward& r) { *r.mutable_residual() = FloatTensor({4, 7}, 1); },
       "residual.shape"},
      {"residual_other_dtype",
       [](Forward& r) {
         *r.mutable_residual() = FloatTensor({2, 8}, 1);
         r.mutable_residual()->set_dtype(v1::DATA_TYPE_FLOAT16);
         SetShape(*r.mutable_residual(), {4, 8});
       },
       "residual.dtype"},
  };
}

std::vector<Fault<Forward>> OutputFaults() {
  return {
      {"no_output",
       [](Forward& r) {
         r.clear_y();
         r.clear_mean();
         r.clear_rstd();
       },
       "y"},
      {"y_without_destination", [](Forward& r) { r.mutable_y()->clear_destination(); }, "y"},
      {"y_in_a_buffer", [](Forward& r) { r.mutable_y()->mutable_buffer(); }, "y.buffer",
       kUnimplemented},
      {"y_dtype", [](Forward& r) { r.mutable_y()->set_dtype(v1::DATA_TYPE_FLOAT32); }, "y.dtype"},
      {"mean_of_rms_norm", [](Forward& r) { SetKind(*r.mutable_op(), v1::NORM_KIND_RMS_NORM); },
       "mean"},
      {"residual_out_without_residual",
       [](Forward& r) { r.mutable_residual_out()->mutable_inline_(); }, "residual_out"},
  };
}

std::vector<Fault<Backward>> BackwardFaults() {
  const auto set_statistics = [](Backward& r, const std::vector<int64_t>& shape) {
    *r.mutable_mean() = FloatTensor(shape, 1);
    *r.mutable_rstd() = FloatTensor(shape, 1);
  };
  return {
      {"dy_missing", [](Backward& r) { r.clear_dy(); }, "dy"},
      {"dy_other_shape", [](Backward& r) { *r.mutable_dy() = FloatTensor({4, 7}, 1); }, "dy.shape"},
      {"mean_alone", [](Backward& r) { *r.mutable_mean() = FloatTensor({4, 1}, 1); }, "rstd"},
      {"rstd_alone", [](Backward& r) { *r.mutable_rstd() = FloatTensor({4, 1}, 1); }, "mean"},
      {"mean_for_rms_norm",
       [=](Backward& r) {
         SetKind(*r.mutable_op(), v1::NORM_KIND_RMS_NORM);
         set_statistics(r, {4, 1});
       },
       "mean"},
      {"statistics_other_rows", [=](Backward& r) { set_statistics(r, {5, 1}); }, "mean.shape"},
      {"statistics_without_groups",
       [=](Backward& r) {
         r.mutable_op()->set_group_size(4);
         set_statistics(r, {4});
       },
       "mean.shape"},
      {"statistics_transposed",
       [=](Backward& r) {
         r.mutable_op()->set_group_size(4);
         set_statistics(r, {2, 4});
       },
       "mean.shape"},
      {"rstd_float16",
       [=](Backward& r) {
         set_statistics(r, {4, 1});
         r.mutable_rstd()->set_dtype(v1::DATA_TYPE_FLOAT16);
         r.mutable_rstd()->mutable_inline_()->resize(8);
       },
       "rstd.dtype"},
      {"no_output",
       [](Backward& r) {
         r.clear_dx();
         r.clear_dweight();
         r.clear_dbias();
       },
       "dx"},
      {"dz_without_gate", [](Backward& r) { r.mutable_dz()->mutable_inline_(); }, "dz"},
      {"dweight_without_weight", [](Backward& r) { r.clear_weight(); }, "dweight"},
      {"dbias_without_bias", [](Backward& r) { r.clear_bias(); }, "dbias"},
      {"dweight_in_a_third_dtype",
       [](Backward& r) { r.mutable_dweight()->set_dtype(v1::DATA_TYPE_FLOAT16); }, "dweight.dtype"},
      {"dbias_dtype_9",
       [](Backward& r) { r.mutable_dbias()->set_dtype(static_cast<v1::DataType>(9)); },
       "dbias.dtype"},
      {"dx_dtype", [](Backward& r) { r.mutable_dx()->set_dtype(v1::DATA_TYPE_FLOAT32); },
       "dx.dtype"},
      {"dresidual_out_other_shape",
       [](Backward& r) { *r.mutable_dresidual_out() = FloatTensor({4, 9}, 1); },
       "dresidual_out.shape"},
      {"dresidual_before_gate_then_norm",
       [](Backward& r) {
         *r.mutable_z() = FloatTensor({4, 8}, 1);
         r.mutable_op()->set_gate_activation(v1::GATE_ACTIVATION_SILU);
         r.mutable_op()->set_gate_order(v1::GATE_ORDER_GATE_THEN_NORM);
         r.mutable_dresidual()->mutable_inline_();
       },
       "dresidual"},
  };
}

template <typename Request>
void ExpectRefused(const Fault<Request>& fault, Request request) {
  ASSERT_TRUE(Judge(request).ok());
  fault.make(request);
  const absl::Status status = Judge(request).status();
  EXPECT_EQ(status.code(), fault.code) << status;
  EXPECT_EQ(FieldOf(status), fault.field) << status;
  EXPECT_THAT(std::string(status.message()), StartsWith(std::string(fault.field) + ": "));
}

class ForwardFault : public testing::TestWithParam<Fault<Forward>> {};
class BackwardFault : public testing::TestWithParam<Fault<Backward>> {};

TEST_P(ForwardFault, IsRefusedByName) { ExpectRefused(GetParam(), LayerNormRequest(4, 8)); }
TEST_P(BackwardFault, IsRefusedByName) {
  ExpectRefused(GetParam(), LayerNormBackwardRequest(4, 8));
}

const auto kNameOf = [](const auto& fault) { return std::string(fault.param.name); };
INSTANTIATE_TEST_SUITE_P(Op, ForwardFault, testing::ValuesIn(OpFaults()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Tensor, ForwardFault, testing::ValuesIn(TensorFaults()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Output, ForwardFault, testing::ValuesIn(OutputFaults()), kNameOf);
INSTANTIATE_TEST_SUITE_P(All, BackwardFault, testing::ValuesIn(BackwardFaults()), kNameOf);

TEST(Validate, DefaultsAreResolved) {
  const auto request = Judge(LayerNormRequest(4, 8));
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->rows, 4);
  EXPECT_EQ(request->eps, 1e-5F);
  const NormSpec& spec = request->spec;
  EXPECT_EQ(spec.width, 8);
  EXPECT_EQ(spec.group, 8);
  EXPECT_EQ(spec.path, KernelPath::kAuto);
  EXPECT_TRUE(spec.has_weight && spec.has_bias && spec.want_y && spec.want_mean && spec.want_rstd);
  EXPECT_FALSE(spec.has_gate() || spec.has_residual || spec.want_residual_out);
}

TEST(Validate, EpsOfZeroIsLegal) {
  Forward request = LayerNormRequest(4, 8);
  request.mutable_op()->set_eps(0);
  EXPECT_TRUE(Judge(request).ok());
}

TEST(Validate, LeadingDimensionsFlattenToRows) {
  Forward request = GatedRequest(12, 8);
  SetShape(*request.mutable_x(), {2, 3, 2, 8});
  SetShape(*request.mutable_z(), {12, 8});
  const auto checked = Judge(request);
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->rows, 12);
  EXPECT_EQ(checked->spec.gate, GateActivation::kSilu);
  EXPECT_EQ(checked->spec.gate_order, GateOrder::kNormThenGate);
  SetShape(*request.mutable_x(), {96});
  SetShape(*request.mutable_z(), {96});
  request.clear_weight();
  EXPECT_EQ(Judge(request)->rows, 1);
}

TEST(Validate, StatisticsFlattenToRowsAndGroups) {
  Backward request = LayerNormBackwardRequest(6, 8);
  const auto accepts = [&](const std::vector<int64_t>& shape) {
    *request.mutable_mean() = FloatTensor(shape, 1);
    *request.mutable_rstd() = FloatTensor(shape, 1);
    const auto checked = Judge(request);
    return checked.ok() && checked->spec.has_statistics;
  };
  EXPECT_TRUE(accepts({6}));
  EXPECT_TRUE(accepts({6, 1}));
  EXPECT_TRUE(accepts({2, 3}));
  EXPECT_TRUE(accepts({2, 3, 1}));
  request.mutable_op()->set_group_size(4);
  EXPECT_TRUE(accepts({6, 2}));
  EXPECT_TRUE(accepts({3, 2, 2}));
  EXPECT_FALSE(accepts({12}));
}

TEST(Validate, NoRowsHaveNoStatistics) {
  Backward request = LayerNormBackwardRequest(0, 8);
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{0}, {0, 1}, {3, 0}}) {
    *request.mutable_mean() = FloatTensor(shape, 1);
    *request.mutable_rstd() = FloatTensor(shape, 1);
    const auto checked = Judge(request);
    EXPECT_TRUE(checked.ok()) << checked.status();
  }
}

TEST(Validate, AResidualOfBackwardIsWhatIsWantedOrArrives) {
  Backward request = LayerNormBackwardRequest(4, 8);
  EXPECT_FALSE(Judge(request)->spec.has_residual);
  *request.mutable_dresidual_out() = FloatTensor({4, 8}, 1);
  EXPECT_TRUE(Judge(request)->spec.has_residual);
  request.clear_dresidual_out();
  request.mutable_dresidual()->mutable_inline_();
  EXPECT_TRUE(Judge(request)->spec.has_residual);
}

}  // namespace
}  // namespace normd
