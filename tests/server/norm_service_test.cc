#include "server/rpc/norm_service.h"

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/cpu_backend.h"
#include "normd/v1/buffers.grpc.pb.h"
#include "server/rpc/error_details.pb.h"
#include "tests/server/fake_backend.h"
#include "tests/server/requests.h"
#include "tests/server/test_server.h"

namespace normd {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

grpc::Status Forward(TestServer& server, const v1::ForwardRequest& request,
                     v1::ForwardResponse& response, absl::Duration timeout = absl::Seconds(60)) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
  return server.stub().Forward(&context, request, &response);
}

std::vector<float> Floats(const v1::Tensor& tensor) {
  std::vector<float> values(tensor.inline_().size() / sizeof(float));
  std::memcpy(values.data(), tensor.inline_().data(), tensor.inline_().size());
  return values;
}

// normd_requests_total, by code.
std::map<std::string, double> CountedRequests(const Telemetry& telemetry) {
  std::map<std::string, double> counted;
  for (const prometheus::MetricFamily& family : telemetry.Collect()) {
    if (family.name != "normd_requests_total") continue;
    for (const prometheus::ClientMetric& metric : family.metric) {
      for (const auto& label : metric.label) {
        if (label.name == "code") counted[label.value] += metric.counter.value;
      }
    }
  }
  std::erase_if(counted, [](const auto& entry) { return entry.second == 0; });
  return counted;
}

// A call on a thread of its own.
class BackgroundCall {
 public:
  BackgroundCall(TestServer& server, const v1::ForwardRequest& request,
                 absl::Duration timeout = absl::Seconds(60)) {
    context_.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
    thread_ = std::thread([this, &server, request] {
      status_ = server.stub().Forward(&context_, request, &response_);
    });
  }
  ~BackgroundCall() {
    if (thread_.joinable()) thread_.join();
  }
  void Cancel() { context_.TryCancel(); }
  grpc::Status Wait() {
    thread_.join();
    return status_;
  }
  const v1::ForwardResponse& response() const { return response_; }

 private:
  grpc::ClientContext context_;
  v1::ForwardResponse response_;
  grpc::Status status_;
  std::thread thread_;
};

class NormServiceTest : public testing::Test {
 protected:
  // A call that stays on the device until Release.
  std::unique_ptr<BackgroundCall> Occupy() {
    backend_.Hold();
    const int before = backend_.launches();
    auto call = std::make_unique<BackgroundCall>(server_, LayerNormRequest(2, 4));
    backend_.WaitForLaunches(before + 1);
    return call;
  }

  FakeBackend backend_;
  TestServer server_{backend_};
};

TEST_F(NormServiceTest, RepliesWithTensorsAndTimings) {
  const v1::ForwardRequest request = LayerNormRequest(3, 5);
  v1::ForwardResponse response;
  const grpc::Status status = Forward(server_, request, response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.y().inline_(), request.x().inline_());  // as the fake has it
  EXPECT_EQ(response.mean().inline_(), std::string(3 * 4, '\0'));
  const v1::Execution& execution = response.execution();
  EXPECT_EQ(execution.device(), "fake:0");
  EXPECT_EQ(execution.kernel(), "fake_kernel");
  EXPECT_EQ(execution.batch_rows(), 3);
  EXPECT_EQ(execution.batch_requests(), 1);
  EXPECT_EQ(execution.timings().kernel_ns(), 7000);
  EXPECT_GT(execution.timings().decode_ns(), 0);
  EXPECT_GT(execution.timings().queue_ns(), 0);
  EXPECT_GE(execution.timings().total_ns(), execution.timings().decode_ns() +
                                                execution.timings().queue_ns() +
                                                execution.timings().encode_ns());
  EXPECT_TRUE(server_.BecomesIdle());
}

TEST_F(NormServiceTest, ManySlicesArriveWhole) {
  const v1::ForwardRequest request = LayerNormRequest(1001, 257);  // 1 MB
  v1::ForwardResponse response;
  ASSERT_TRUE(Forward(server_, request, response).ok());
  EXPECT_TRUE(response.y().inline_() == request.x().inline_());
  EXPECT_TRUE(server_.BecomesIdle());
}

TEST_F(NormServiceTest, AFaultNamesItsFieldAndTheNextCallIsRight) {
  v1::ForwardRequest request = LayerNormRequest(3, 5);
  request.mutable_op()->clear_eps();
  v1::ForwardResponse response;
  const grpc::Status status = Forward(server_, request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "op.eps: is required");
  internal::Status details;
  ASSERT_TRUE(details.ParseFromString(status.error_details()));
  internal::BadRequest bad_request;
  ASSERT_TRUE(bad_request.ParseFromString(details.details(0).value()));
  EXPECT_EQ(bad_request.field_violations(0).field(), "op.eps");
  EXPECT_TRUE(Forward(server_, LayerNormRequest(3, 5), response).ok());
}

TEST_F(NormServiceTest, AFailureOfTheServerTellsNothingOfIt) {
  backend_.FailNextLaunch();
  v1::ForwardResponse response;
  const grpc::Status status = Forward(server_, LayerNormRequest(3, 5), response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_THAT(status.error_message(), Not(HasSubstr("secret")));
  EXPECT_THAT(status.error_message(), Not(HasSubstr("0x")));
  EXPECT_TRUE(Forward(server_, LayerNormRequest(3, 5), response).ok());
}

TEST_F(NormServiceTest, MethodsOfLaterVersionsSaySo) {
  grpc::ClientContext batch_context, execute_context, create_context, upload_context;
  v1::BatchResponse batch;
  const grpc::Status status = server_.stub().Batch(&batch_context, {}, &batch);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(status.error_message(), "NormService/Batch is not available in this version");

  const auto execute = server_.stub().Execute(&execute_context);
  EXPECT_EQ(execute->Finish().error_message(),
            "NormService/Execute is not available in this version");

  const auto buffers = v1::BufferService::NewStub(server_.NewChannel());
  v1::CreateBufferResponse created;
  EXPECT_EQ(buffers->CreateBuffer(&create_context, {}, &created).error_message(),
            "BufferService/CreateBuffer is not available in this version");
  v1::UploadResponse uploaded;
  EXPECT_EQ(buffers->Upload(&upload_context, &uploaded)->Finish().error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(NormServiceTest, AQueueThatIsFullSaysWhenToComeBack) {
  const auto running = Occupy();
  std::vector<std::unique_ptr<BackgroundCall>> waiting;
  for (int i = 0; i < 8; ++i) {
    waiting.push_back(std::make_unique<BackgroundCall>(server_, LayerNormRequest(2, 4)));
  }
  ASSERT_TRUE(Eventually([&] { return server_.service().unanswered() == 9; }));
  v1::ForwardResponse response;
  const grpc::Status status = Forward(server_, LayerNormRequest(2, 4), response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  internal::Status details;
  ASSERT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.details(0).type_url(), "type.googleapis.com/google.rpc.RetryInfo");
  backend_.Release();
  EXPECT_TRUE(running->Wait().ok());
  for (const auto& call : waiting) EXPECT_TRUE(call->Wait().ok());
  EXPECT_TRUE(server_.BecomesIdle());
}

TEST_F(NormServiceTest, StagingMemoryInUseIsWorthARetryAndTooLittleIsNot) {
  const v1::ForwardRequest half = LayerNormRequest(1100, 256);  // 2.2 MiB in and out
  v1::ForwardResponse response;
  backend_.Hold();
  BackgroundCall running(server_, half);
  backend_.WaitForLaunches(1);
  const grpc::Status busy = Forward(server_, half, response);
  EXPECT_EQ(busy.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_NE(busy.error_details(), "");
  backend_.Release();
  EXPECT_TRUE(running.Wait().ok());
  const grpc::Status too_large = Forward(server_, LayerNormRequest(2200, 256), response);
  EXPECT_EQ(too_large.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(too_large.error_message(), HasSubstr("4194304"));
  EXPECT_EQ(too_large.error_details(), "");
  ASSERT_TRUE(server_.BecomesIdle());
  EXPECT_TRUE(Forward(server_, half, response).ok());
}

TEST_F(NormServiceTest, AMessageOverTheLimitIsRefused) {
  NormServiceOptions options;
  options.max_message_bytes = 1000;
  TestServer server(backend_, TestServer::SmallWorker(), options);
  v1::ForwardResponse response;
  const grpc::Status status = Forward(server, LayerNormRequest(100, 4), response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("1000"));
  EXPECT_TRUE(Forward(server, LayerNormRequest(10, 4), response).ok());
}

TEST_F(NormServiceTest, ADeadlineInTheQueueIsMetWithoutALaunch) {
  const auto running = Occupy();
  v1::ForwardResponse response;
  const grpc::Status status =
      Forward(server_, LayerNormRequest(2, 4), response, absl::Milliseconds(30));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  ASSERT_TRUE(Eventually([&] { return server_.service().unanswered() == 1; }));
  backend_.Release();
  EXPECT_TRUE(running->Wait().ok());
  EXPECT_EQ(backend_.launches(), 1);
  EXPECT_TRUE(server_.BecomesIdle());
}

TEST_F(NormServiceTest, CancelledInTheQueueIsNotLaunched) {
  const auto running = Occupy();
  BackgroundCall waiting(server_, LayerNormRequest(2, 4));
  ASSERT_TRUE(Eventually([&] { return server_.service().unanswered() == 2; }));
  waiting.Cancel();
  EXPECT_EQ(waiting.Wait().error_code(), grpc::StatusCode::CANCELLED);
  ASSERT_TRUE(Eventually([&] { return server_.service().unanswered() == 1; }));
  backend_.Release();
  EXPECT_TRUE(running->Wait().ok());
  EXPECT_EQ(backend_.launches(), 1);
  EXPECT_TRUE(server_.BecomesIdle());
}

TEST_F(NormServiceTest, CancelledOnTheDeviceGivesItsMemoryBack) {
  const auto running = Occupy();
  running->Cancel();
  EXPECT_EQ(running->Wait().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_EQ(server_.service().unanswered(), 1);
  backend_.Release();
  EXPECT_TRUE(server_.BecomesIdle());
}

TEST_F(NormServiceTest, ARequestIsCountedOnceOnEveryWayOut) {
  v1::ForwardResponse response;
  v1::ForwardRequest faulty = LayerNormRequest(2, 4);
  faulty.clear_x();
  EXPECT_FALSE(Forward(server_, faulty, response).ok());
  backend_.FailNextLaunch();
  EXPECT_FALSE(Forward(server_, LayerNormRequest(2, 4), response).ok());
  const auto running = Occupy();
  EXPECT_FALSE(Forward(server_, LayerNormRequest(2, 4), response, absl::Milliseconds(30)).ok());
  ASSERT_TRUE(Eventually([&] { return server_.service().unanswered() == 1; }));
  BackgroundCall waiting(server_, LayerNormRequest(2, 4));
  ASSERT_TRUE(Eventually([&] { return server_.service().unanswered() == 2; }));
  waiting.Cancel();
  waiting.Wait();
  server_.service().RefuseNew();
  EXPECT_FALSE(Forward(server_, LayerNormRequest(2, 4), response).ok());
  backend_.Release();
  EXPECT_TRUE(running->Wait().ok());
  ASSERT_TRUE(server_.BecomesIdle());
  std::map<std::string, double> counted = CountedRequests(server_.telemetry());
  // Late on a busy machine, a deadline looks like a cancellation: deadline.h.
  EXPECT_EQ(counted["CANCELLED"] + counted["DEADLINE_EXCEEDED"], 2);
  counted.erase("CANCELLED");
  counted.erase("DEADLINE_EXCEEDED");
  EXPECT_THAT(counted, testing::UnorderedElementsAre(
                           testing::Pair("OK", 1), testing::Pair("INVALID_ARGUMENT", 1),
                           testing::Pair("INTERNAL", 1), testing::Pair("UNAVAILABLE", 1)));
}

TEST_F(NormServiceTest, DrainingRefusesNewCallsAndFinishesAcceptedOnes) {
  const auto running = Occupy();
  server_.service().RefuseNew();
  EXPECT_FALSE(server_.service().WaitIdle(absl::InfinitePast()));
  v1::ForwardResponse response;
  const grpc::Status status = Forward(server_, LayerNormRequest(2, 4), response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("draining"));
  backend_.Release();
  EXPECT_TRUE(server_.service().WaitIdle(absl::InfiniteFuture()));
  EXPECT_TRUE(running->Wait().ok());
}

TEST_F(NormServiceTest, StopsWithACallInTheQueue) {
  const auto running = Occupy();
  BackgroundCall waiting(server_, LayerNormRequest(2, 4));
  ASSERT_TRUE(Eventually([&] { return server_.service().unanswered() == 2; }));
  std::thread stop([this] { server_.Stop(); });
  EXPECT_FALSE(waiting.Wait().ok());
  backend_.Release();
  stop.join();
  EXPECT_FALSE(running->Wait().ok());  // its connection went first
  EXPECT_EQ(server_.service().unanswered(), 0);
}

TEST(NormServiceOnCpu, ForwardAndBackwardGiveTheRightNumbers) {
  const std::unique_ptr<Backend> backend = *NewCpuBackend({});
  TestServer server(*backend);
  v1::ForwardRequest request = LayerNormRequest(2, 4);
  const std::vector<float> values = {1, 2, 3, 4, -2, -2, 2, 2};
  request.mutable_x()->set_inline_(values.data(), values.size() * sizeof(float));
  request.mutable_op()->set_eps(0);
  request.clear_weight();
  request.clear_bias();
  v1::ForwardResponse response;
  ASSERT_TRUE(Forward(server, request, response).ok());
  const float near = 1.3416408F, far = 0.4472136F;  // 3 / sqrt(5), 1 / sqrt(5)
  EXPECT_THAT(Floats(response.y()),
              testing::Pointwise(testing::FloatNear(1e-6F),
                                 {-near, -far, far, near, -1.F, -1.F, 1.F, 1.F}));
  EXPECT_THAT(Floats(response.mean()), testing::ElementsAre(2.5F, 0.F));
  EXPECT_THAT(Floats(response.rstd()),
              testing::ElementsAre(testing::FloatNear(0.8944272F, 1e-6F), 0.5F));

  v1::BackwardRequest backward = LayerNormBackwardRequest(2, 4);
  backward.mutable_dy()->set_inline_(std::string(8 * sizeof(float), '\0'));
  grpc::ClientContext context;
  v1::BackwardResponse gradients;
  ASSERT_TRUE(server.stub().Backward(&context, backward, &gradients).ok());
  EXPECT_THAT(Floats(gradients.dx()), testing::Each(0.F));
  EXPECT_THAT(Floats(gradients.dweight()), testing::ElementsAre(0.F, 0.F, 0.F, 0.F));
  EXPECT_EQ(gradients.execution().device(), "cpu");
}

TEST(NormServiceOnCpu, NoRowsGiveEmptyOutputsAndZeroGradients) {
  const std::unique_ptr<Backend> backend = *NewCpuBackend({});
  TestServer server(*backend);
  v1::ForwardResponse response;
  const grpc::Status status = Forward(server, LayerNormRequest(0, 4), response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(response.y().has_inline_());
  EXPECT_EQ(response.y().inline_(), "");

  grpc::ClientContext context;
  v1::BackwardResponse gradients;
  ASSERT_TRUE(server.stub().Backward(&context, LayerNormBackwardRequest(0, 4), &gradients).ok());
  EXPECT_EQ(gradients.dx().inline_(), "");
  EXPECT_THAT(Floats(gradients.dweight()), testing::ElementsAre(0.F, 0.F, 0.F, 0.F));
  EXPECT_THAT(Floats(gradients.dbias()), testing::ElementsAre(0.F, 0.F, 0.F, 0.F));
}

}  // namespace
}  // namespace normd
