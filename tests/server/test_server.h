// The request path of the server in this process, on loopback: NormService over a DeviceWorker over
// a backend of the test's.
#ifndef NORMD_TESTS_SERVER_TEST_SERVER_H_
#define NORMD_TESTS_SERVER_TEST_SERVER_H_

#include <functional>
#include <memory>
#include <string>

#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/server.h"
#include "kernels/backend.h"
#include "normd/v1/norm.grpc.pb.h"
#include "server/execution/device_worker.h"
#include "server/rpc/norm_service.h"
#include "server/telemetry/telemetry.h"

namespace normd {

class TestServer {
 public:
  explicit TestServer(Backend& backend, const DeviceWorkerOptions& worker = SmallWorker(),
                      const NormServiceOptions& service = {});
  ~TestServer();  // stops

  // 4 MiB of staging memory, 8 requests in the queue.
  static DeviceWorkerOptions SmallWorker();

  // A connection of its own.
  std::shared_ptr<grpc::Channel> NewChannel() const;
  v1::NormService::Stub& stub() { return *stub_; }

  DeviceWorker& worker() { return *worker_; }
  NormService& service() { return *service_; }
  Telemetry& telemetry() { return telemetry_; }

  // As the server's process does it: gRPC, then the service, then the worker.
  void Stop();

  // Every request is answered, and the staging memory is whole again.
  bool BecomesIdle();

 private:
  Telemetry telemetry_{TelemetryOptions{}};
  std::unique_ptr<DeviceWorker> worker_;
  std::unique_ptr<NormService> service_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
  std::unique_ptr<v1::NormService::Stub> stub_;
};

// Polls until `condition` holds; false after ten seconds.
bool Eventually(const std::function<bool()>& condition);

}  // namespace normd

#endif  // NORMD_TESTS_SERVER_TEST_SERVER_H_
