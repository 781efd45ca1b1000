#include "tests/server/test_server.h"

#include <chrono>
#include <thread>

#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"

namespace normd {

TestServer::TestServer(Backend& backend, const DeviceWorkerOptions& worker,
                       const NormServiceOptions& service)
    : worker_(*DeviceWorker::Create(worker, backend, telemetry_)),
      service_(std::make_unique<NormService>(service, *worker_, telemetry_)) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
  builder.SetMaxReceiveMessageSize(-1);
  service_->Register(builder);
  server_ = builder.BuildAndStart();
  service_->Start();
  stub_ = v1::NormService::NewStub(NewChannel());
}

TestServer::~TestServer() { Stop(); }

DeviceWorkerOptions TestServer::SmallWorker() {
  DeviceWorkerOptions options;
  options.staging_bytes = 4 << 20;
  options.max_queue_requests = 8;
  return options;
}

std::shared_ptr<grpc::Channel> TestServer::NewChannel() const {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port_),
                                   grpc::InsecureChannelCredentials(), arguments);
}

void TestServer::Stop() {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  service_->Shutdown();
  worker_->Shutdown();
  server_.reset();
}

bool TestServer::BecomesIdle() {
  return Eventually(
      [this] { return service_->unanswered() == 0 && worker_->staging().used_bytes() == 0; });
}

bool Eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace normd
