// Bad input through the client: the code, the field, and a server that goes on.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "client/cpp/client.h"
#include "gtest/gtest.h"
#include "kernels/field_error.h"
#include "tests/client/server_process.h"

namespace normd {
namespace {

constexpr int64_t kRows = 4;
constexpr int64_t kWidth = 8;

// Right operands; a case breaks one thing.
struct Forward {
  std::vector<float> rows = std::vector<float>(kRows * kWidth, 1.0F);
  std::vector<float> column = std::vector<float>(kWidth, 1.0F);
  ForwardCall call;

  Forward() {
    call.op.eps = 1e-5F;
    call.x = Rows();
    call.weight = View(DataType::kFloat32, {kWidth}, column);
  }
  Operand Rows() const { return View(DataType::kFloat32, {kRows, kWidth}, rows); }
};

struct Backward {
  std::vector<float> rows = std::vector<float>(kRows * kWidth, 1.0F);
  BackwardCall call;

  Backward() {
    call.op.eps = 1e-5F;
    call.x = call.dy = View(DataType::kFloat32, {kRows, kWidth}, rows);
  }
};

class BadInputTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new ServerProcess({"--max_message_bytes=1048576"}); }
  static void TearDownTestSuite() {
    EXPECT_TRUE(server_->Running()) << "the server ended by itself";
    EXPECT_EQ(server_->Stop(), 0);
    delete server_;
  }

  // Breaks a right call, expects the field, and a right call to pass afterwards.
  void Expect(const std::string& field, const std::function<void(Forward&)>& change) {
    Forward bad;
    change(bad);
    ExpectField(field, client_.LayerNorm(bad.call).status());
    EXPECT_TRUE(client_.LayerNorm(Forward().call).ok()) << "after " << field;
  }
  void ExpectBackward(const std::string& field, const std::function<void(Backward&)>& change) {
    Backward bad;
    change(bad);
    ExpectField(field, client_.LayerNormBackward(bad.call).status());
    EXPECT_TRUE(client_.LayerNormBackward(Backward().call).ok()) << "after " << field;
  }

  static ServerProcess* server_;
  Client client_{server_->unix_address()};

 private:
  static void ExpectField(const std::string& field, const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << field << " " << status;
    EXPECT_EQ(FieldOf(status), field) << status;
    EXPECT_FALSE(DescriptionOf(status).empty());
  }
};

ServerProcess* BadInputTest::server_ = nullptr;

TEST_F(BadInputTest, Eps) {
  Expect("op.eps", [](Forward& f) { f.call.op.eps.reset(); });
  for (const float eps : {-1.0F, std::nanf(""), std::numeric_limits<float>::infinity()}) {
    Expect("op.eps", [eps](Forward& f) { f.call.op.eps = eps; });
  }
}

TEST_F(BadInputTest, SizesRanksAndShapes) {
  Expect("x.inline", [](Forward& f) { f.call.x.bytes.remove_suffix(1); });
  Expect("x.inline", [](Forward& f) { f.call.x.bytes = {}; });
  Expect("x.shape", [](Forward& f) { f.call.x.shape = {}; });
  Expect("x.shape", [](Forward& f) { f.call.x.shape = std::vector<int64_t>(9, 1); });
  Expect("x.shape", [](Forward& f) { f.call.x.shape = {-kRows, -kWidth}; });
  Expect("x.shape", [](Forward& f) { f.call.x.shape = {kRows, 0}; });
  Expect("x.shape", [](Forward& f) { f.call.x.shape = {int64_t{1} << 62, kWidth}; });
  Expect("weight.shape", [](Forward& f) { f.call.weight->shape = {2, kWidth / 2}; });
  Expect("weight.shape", [](Forward& f) {
    f.call.weight = View(DataType::kFloat32, {4}, absl::MakeConstSpan(f.column).first(4));
  });
  ExpectBackward("dy.shape", [](Backward& b) {
    b.call.dy =
        View(DataType::kFloat32, {2, kWidth}, absl::MakeConstSpan(b.rows).first(2 * kWidth));
  });
}

TEST_F(BadInputTest, DtypesAndEnums) {
  Expect("x.inline", [](Forward& f) { f.call.x.dtype = DataType::kFloat16; });
  Expect("x.dtype", [](Forward& f) { f.call.x.dtype = static_cast<DataType>(9); });
  Expect("op.gate_activation",
         [](Forward& f) { f.call.op.gate_activation = static_cast<GateActivation>(9); });
  Expect("op.gate_order", [](Forward& f) { f.call.op.gate_order = static_cast<GateOrder>(9); });
  Expect("op.path", [](Forward& f) { f.call.op.path = static_cast<KernelPath>(9); });
  ExpectBackward("dweight.dtype", [](Backward& b) {
    b.call.weight = View(DataType::kFloat32, {kWidth}, absl::MakeConstSpan(b.rows).first(kWidth));
    b.call.dweight = Output::Owned();
    b.call.parameter_gradient_dtype = DataType::kFloat16;
  });
}

TEST_F(BadInputTest, GroupsAndGates) {
  Expect("op.group_size", [](Forward& f) { f.call.op.group_size = 3; });
  Expect("op.group_size", [](Forward& f) { f.call.op.group_size = -1; });
  Expect("op.gate_activation", [](Forward& f) { f.call.z = f.Rows(); });
  Expect("op.gate_order", [](Forward& f) {
    f.call.z = f.Rows();
    f.call.op.gate_activation = GateActivation::kSilu;
  });
  Expect("op.gate_activation", [](Forward& f) {
    f.call.op.gate_activation = GateActivation::kSilu;
    f.call.op.gate_order = GateOrder::kNormThenGate;
  });
  Expect("residual", [](Forward& f) {
    f.call.z = f.call.residual = f.Rows();
    f.call.op.gate_activation = GateActivation::kSilu;
    f.call.op.gate_order = GateOrder::kGateThenNorm;
  });
  Expect("op.weight_offset", [](Forward& f) { f.call.op.weight_offset = std::nanf(""); });
}

TEST_F(BadInputTest, OutputsAndMemory) {
  Expect("y", [](Forward& f) { f.call.y = Output(); });
  Expect("residual_out", [](Forward& f) { f.call.residual_out = Output::Owned(); });
  Expect("y", [](Forward& f) { f.call.y = Output::Into(f.column); });
  ExpectBackward("dz", [](Backward& b) { b.call.dz = Output::Owned(); });
}

TEST_F(BadInputTest, Timeouts) {
  for (const absl::Duration timeout :
       {absl::ZeroDuration(), -absl::Seconds(1), absl::InfiniteDuration()}) {
    CallOptions options;
    options.timeout = timeout;
    const absl::Status status = client_.LayerNorm(Forward().call, options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(FieldOf(status), "timeout");
  }
}

TEST_F(BadInputTest, Metadata) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"Upper", "a"}, {"", "a"}, {"two words", "a"}, {"x-text", "line\nbreak"}};
  for (const auto& pair : wrong) {
    CallOptions options;
    options.metadata = {pair};
    const absl::Status status = client_.LayerNorm(Forward().call, options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << pair.first;
    EXPECT_EQ(FieldOf(status), "metadata");
  }
  CallOptions options;
  options.metadata = {{"x-note", "a"}, {"x-bytes-bin", std::string("\0\1", 2)}};
  EXPECT_TRUE(client_.LayerNorm(Forward().call, options).ok());
}

TEST_F(BadInputTest, MessagesOverTheServersLimit) {
  const std::vector<float> large(1 << 20);
  Forward bad;
  bad.call.x = View(DataType::kFloat32, {1 << 17, kWidth}, large);
  EXPECT_EQ(client_.LayerNorm(bad.call).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(client_.LayerNorm(Forward().call).ok());
}

}  // namespace
}  // namespace normd
