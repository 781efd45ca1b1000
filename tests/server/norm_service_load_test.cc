// The request path under many clients that go away at any moment.
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/cpu_backend.h"
#include "tests/server/requests.h"
#include "tests/server/test_server.h"

namespace normd {
namespace {

void OnThreads(int count, const std::function<void(uint32_t)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work, static_cast<uint32_t>(i));
  for (std::thread& thread : threads) thread.join();
}

class NormServiceLoadTest : public testing::Test {
 protected:
  NormServiceLoadTest() {
    DeviceWorkerOptions worker = TestServer::SmallWorker();
    worker.max_queue_requests = 256;
    worker.streams = 2;
    NormServiceOptions service;
    service.completion_threads = 2;
    server_ = std::make_unique<TestServer>(*backend_, worker, service);
  }

  const std::unique_ptr<Backend> backend_ = *NewCpuBackend({.threads = 2});
  std::unique_ptr<TestServer> server_;
};

// The same request has the same bits whatever runs beside it, so a reply never shows the bytes of
// another request.
TEST_F(NormServiceLoadTest, RepliesHaveNothingOfEachOther) {
  OnThreads(4, [&](uint32_t seed) {
    v1::ForwardRequest request = LayerNormRequest(3 + seed, 33 + 8 * seed);
    *request.mutable_x() = FloatTensor({3 + seed, 33 + 8 * seed}, 100 + seed);
    const auto stub = v1::NormService::NewStub(server_->NewChannel());
    std::string first;
    for (int i = 0; i < 100; ++i) {
      grpc::ClientContext context;
      v1::ForwardResponse response;
      const grpc::Status status = stub->Forward(&context, request, &response);
      ASSERT_TRUE(status.ok()) << status.error_message();
      if (first.empty()) first = response.y().inline_();
      ASSERT_TRUE(response.y().inline_() == first);
    }
  });
  EXPECT_TRUE(server_->BecomesIdle());
}

TEST_F(NormServiceLoadTest, CancelledAtAnyStageLeavesNothingBehind) {
  OnThreads(4, [&](uint32_t seed) {
    std::mt19937 random(seed);
    const v1::ForwardRequest request = GatedRequest(64, 256);
    for (int i = 0; i < 200; ++i) {
      grpc::ClientContext context;
      std::thread canceller([&context, delay = absl::Microseconds(random() % 2000)] {
        absl::SleepFor(delay);
        context.TryCancel();
      });
      v1::ForwardResponse response;
      const grpc::Status status = server_->stub().Forward(&context, request, &response);
      canceller.join();
      ASSERT_TRUE(status.ok() || status.error_code() == grpc::StatusCode::CANCELLED)
          << status.error_message();
    }
  });
  EXPECT_TRUE(server_->BecomesIdle());
}

TEST_F(NormServiceLoadTest, ShortDeadlinesLeaveNothingBehind) {
  OnThreads(4, [&](uint32_t seed) {
    std::mt19937 random(seed);
    const v1::ForwardRequest request = GatedRequest(64, 256);
    for (int i = 0; i < 200; ++i) {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() +
                           std::chrono::microseconds(random() % 3000));
      v1::ForwardResponse response;
      const grpc::Status status = server_->stub().Forward(&context, request, &response);
      ASSERT_TRUE(status.ok() || status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED)
          << status.error_message();
    }
  });
  EXPECT_TRUE(server_->BecomesIdle());
}

// Connections that send a call and vanish.
TEST_F(NormServiceLoadTest, ClientsThatVanishLeaveNothingBehind) {
  OnThreads(4, [&](uint32_t) {
    const v1::ForwardRequest request = GatedRequest(64, 256);
    for (int i = 0; i < 25; ++i) {
      grpc::CompletionQueue queue;
      grpc::ClientContext context;
      v1::ForwardResponse response;
      grpc::Status status;
      auto channel = server_->NewChannel();
      auto call = v1::NormService::NewStub(channel)->AsyncForward(&context, request, &queue);
      call->Finish(&response, &status, &queue);
      if (i % 2 == 0)
        channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(5));
      context.TryCancel();
      void* tag = nullptr;
      bool ok = false;
      queue.Next(&tag, &ok);
      queue.Shutdown();
      while (queue.Next(&tag, &ok)) {
      }
    }
  });
  EXPECT_TRUE(server_->BecomesIdle());
}

TEST_F(NormServiceLoadTest, StopsUnderLoad) {
  std::thread stop([this] {
    Eventually([this] { return server_->worker().staging().used_bytes() > 0; });
    server_->Stop();
  });
  OnThreads(4, [&](uint32_t) {
    const v1::ForwardRequest request = GatedRequest(64, 256);
    for (int i = 0; i < 100; ++i) {
      grpc::ClientContext context;
      v1::ForwardResponse response;
      if (!server_->stub().Forward(&context, request, &response).ok()) return;
    }
  });
  stop.join();
  EXPECT_EQ(server_->service().unanswered(), 0);
  EXPECT_EQ(server_->worker().staging().used_bytes(), 0);
}

}  // namespace
}  // namespace normd
