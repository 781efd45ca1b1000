// The client against a server process: results against float64, both addresses, deadlines, the
// caller's memory.
#include "client/cpp/client.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "kernels/field_error.h"
#include "tests/client/norm_problem.h"
#include "tests/client/server_process.h"

namespace normd {
namespace {

class ClientTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new ServerProcess(); }
  static void TearDownTestSuite() {
    EXPECT_TRUE(server_->Running()) << "the server ended by itself";
    EXPECT_EQ(server_->Stop(), 0);
    delete server_;
  }

  static ServerProcess* server_;
  Client client_{server_->unix_address()};
};

ServerProcess* ClientTest::server_ = nullptr;

NormSpec LayerNormSpec(Direction direction, DataType dtype) {
  NormSpec spec;
  spec.direction = direction;
  spec.width = spec.group = 24;
  spec.dtype = spec.dy_dtype = dtype;
  spec.has_weight = spec.has_bias = true;
  const bool forward = direction == Direction::kForward;
  spec.want_y = spec.want_mean = spec.want_rstd = forward;
  spec.want_dx = spec.want_dweight = spec.want_dbias = !forward;
  return spec;
}

NormSpec GatedRmsNormSpec(Direction direction) {
  NormSpec spec;
  spec.direction = direction;
  spec.kind = NormKind::kRmsNorm;
  spec.gate = GateActivation::kSilu;
  spec.gate_order = GateOrder::kNormThenGate;
  spec.width = 128;
  spec.group = 32;
  spec.dtype = spec.z_dtype = spec.dy_dtype = DataType::kFloat16;
  spec.weight_dtype = DataType::kBFloat16;
  spec.dweight_dtype = DataType::kFloat32;
  spec.weight_offset = 1;
  spec.has_weight = true;
  const bool forward = direction == Direction::kForward;
  spec.want_y = spec.want_rstd = forward;
  spec.want_dx = spec.want_dz = spec.want_dweight = !forward;
  return spec;
}

TEST_F(ClientTest, LayerNormIsRightForEveryDtypeOverBothAddresses) {
  Client tcp(server_->address());
  for (const DataType dtype : {DataType::kFloat32, DataType::kFloat16, DataType::kBFloat16}) {
    for (Client* client : {&client_, &tcp}) {
      const NormProblem problem(LayerNormSpec(Direction::kForward, dtype), 7, 1);
      const auto result = client->LayerNorm(problem.Forward());
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_EQ(problem.Check(dtype, problem.right().y, *result->y), "");
      EXPECT_EQ(problem.Check(DataType::kFloat32, problem.right().mean, *result->mean), "");
      EXPECT_EQ(problem.Check(DataType::kFloat32, problem.right().rstd, *result->rstd), "");
      EXPECT_FALSE(result->residual_out.has_value());
      EXPECT_EQ(result->y->shape, (std::vector<int64_t>{7, 24}));
      EXPECT_EQ(result->execution.device, "cpu");
      EXPECT_EQ(result->execution.batch_requests, 1);
      EXPECT_GT(result->execution.total, absl::ZeroDuration());

      const NormProblem back(LayerNormSpec(Direction::kBackward, dtype), 7, 2);
      const auto gradients = client->LayerNormBackward(back.Backward());
      ASSERT_TRUE(gradients.ok()) << gradients.status();
      EXPECT_EQ(back.Check(dtype, back.right().dx, *gradients->dx), "");
      EXPECT_EQ(back.Check(DataType::kFloat32, back.right().dweight, *gradients->dweight), "");
      EXPECT_EQ(back.Check(DataType::kFloat32, back.right().dbias, *gradients->dbias), "");
    }
  }
}

TEST_F(ClientTest, GatedGroupedRmsNormIsRight) {
  const NormProblem forward(GatedRmsNormSpec(Direction::kForward), 40, 3);
  const auto result = client_.RmsNorm(forward.Forward());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(forward.Check(DataType::kFloat16, forward.right().y, *result->y), "");
  EXPECT_EQ(forward.Check(DataType::kFloat32, forward.right().rstd, *result->rstd), "");

  const NormProblem backward(GatedRmsNormSpec(Direction::kBackward), 40, 4);
  const auto gradients = client_.RmsNormBackward(backward.Backward());
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  EXPECT_EQ(backward.Check(DataType::kFloat16, backward.right().dx, *gradients->dx), "");
  EXPECT_EQ(backward.Check(DataType::kFloat16, backward.right().dz, *gradients->dz), "");
  EXPECT_EQ(backward.Check(DataType::kFloat32, backward.right().dweight, *gradients->dweight), "");
}

TEST_F(ClientTest, ResidualAddIsRightInBothDirections) {
  NormSpec spec = LayerNormSpec(Direction::kForward, DataType::kBFloat16);
  spec.has_residual = spec.want_residual_out = true;
  const NormProblem forward(spec, 5, 5);
  const auto result = client_.LayerNorm(forward.Forward());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(forward.Check(DataType::kBFloat16, forward.right().y, *result->y), "");
  EXPECT_EQ(forward.Check(DataType::kBFloat16, forward.right().residual_out, *result->residual_out),
            "");

  spec = LayerNormSpec(Direction::kBackward, DataType::kBFloat16);
  spec.has_residual = spec.has_dresidual_out = spec.want_dresidual = true;
  const NormProblem backward(spec, 5, 6);
  const auto gradients = client_.LayerNormBackward(backward.Backward());
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  EXPECT_EQ(backward.Check(DataType::kBFloat16, backward.right().dx, *gradients->dx), "");
  EXPECT_EQ(backward.Check(DataType::kBFloat16, backward.right().dresidual, *gradients->dresidual),
            "");
}

TEST_F(ClientTest, WritesIntoTheCallersMemoryEvenOverAnOperand) {
  const int64_t rows = 1 << 14;  // lent to gRPC, not copied
  std::vector<float> apart(static_cast<size_t>(rows) * 8);
  for (size_t i = 0; i < apart.size(); ++i) apart[i] = static_cast<float>(i % 8);
  std::vector<float> in_place = apart;
  ForwardCall call;
  call.op.eps = 1e-5F;
  call.x = View(DataType::kFloat32, {rows, 8}, in_place);
  const auto owned = client_.LayerNorm(call);
  ASSERT_TRUE(owned.ok()) << owned.status();
  call.y = Output::Into(in_place);
  const auto result = client_.LayerNorm(call);
  ASSERT_TRUE(result.ok()) << result.status();
  const auto expected = owned->y->As<float>();
  EXPECT_EQ(in_place, std::vector<float>(expected.begin(), expected.end()));
  EXPECT_NE(in_place, apart);
}

TEST_F(ClientTest, ZeroRowsGiveEmptyOutputsAndZeroGradients) {
  const NormProblem forward(LayerNormSpec(Direction::kForward, DataType::kFloat32), 0, 7);
  const auto result = client_.LayerNorm(forward.Forward());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->y->bytes.empty());
  EXPECT_EQ(result->y->shape, (std::vector<int64_t>{0, 24}));
  const NormProblem backward(LayerNormSpec(Direction::kBackward, DataType::kFloat32), 0, 8);
  const auto gradients = client_.LayerNormBackward(backward.Backward());
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  const auto dweight = gradients->dweight->As<float>();
  EXPECT_EQ(std::vector<float>(dweight.begin(), dweight.end()), std::vector<float>(24, 0.0F));
}

TEST_F(ClientTest, ManyThreadsShareAClient) {
  const NormProblem problem(LayerNormSpec(Direction::kForward, DataType::kFloat32), 16, 9);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) {
        const auto result = client_.LayerNorm(problem.Forward());
        if (result.ok() &&
            problem.Check(DataType::kFloat32, problem.right().y, *result->y).empty()) {
          ++right;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8 * 25);
}

TEST_F(ClientTest, ADeadlineEndsACallAndTheNextOneIsRight) {
  const std::vector<float> large(size_t{4} << 20, 1.0F);
  ForwardCall call;
  call.op.eps = 1e-5F;
  call.x = View(DataType::kFloat32, {(4 << 20) / 64, 64}, large);
  CallOptions options;
  options.timeout = absl::Microseconds(1);
  EXPECT_EQ(client_.LayerNorm(call, options).status().code(), absl::StatusCode::kDeadlineExceeded);
  const NormProblem problem(LayerNormSpec(Direction::kForward, DataType::kFloat32), 3, 10);
  const auto result = client_.LayerNorm(problem.Forward());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(problem.Check(DataType::kFloat32, problem.right().y, *result->y), "");
}

TEST_F(ClientTest, AnEmptyTargetIsNamed) {
  Client nowhere("");
  const absl::Status status = nowhere.LayerNorm(ForwardCall()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(status), "target");
}

TEST_F(ClientTest, NobodyThereIsUnavailable) {
  Client nobody("unix:/tmp/normd-client-test-nobody");
  const NormProblem problem(LayerNormSpec(Direction::kForward, DataType::kFloat32), 1, 11);
  const absl::Time begin = absl::Now();
  EXPECT_EQ(nobody.LayerNorm(problem.Forward()).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_LT(absl::Now() - begin, absl::Seconds(10));
}

}  // namespace
}  // namespace normd
