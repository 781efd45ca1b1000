// NormService: the request half of the server. Forward and Backward run on completion queues of its
// own, read and answered as raw bytes; every other method that no service of the server implements
// (NormService Batch and Execute, all of BufferService, unknown ones) is answered UNIMPLEMENTED.
//
// Life: construct, Register, grpc::ServerBuilder::BuildAndStart, Start; then RefuseNew and WaitIdle
// to drain; then grpc::Server::Shutdown, Shutdown here, and only then the end of the grpc::Server
// and of the DeviceWorker. Register, Start and Shutdown belong to one thread; the others are
// thread-safe.
#ifndef NORMD_SERVER_RPC_NORM_SERVICE_H_
#define NORMD_SERVER_RPC_NORM_SERVICE_H_

#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "grpcpp/server_builder.h"
#include "server/execution/device_worker.h"
#include "server/telemetry/telemetry.h"

namespace normd {

struct NormServiceOptions {
  // Threads that read, check and stage requests, each with a completion queue; 1 to 64. One serves
  // about 70,000 small requests a second and leaves the other cores to the backend.
  int completion_threads = 1;
  // Bytes of a request after decompression. Give gRPC the same limit (SetMaxReceiveMessageSize).
  int64_t max_message_bytes = (int64_t{256} << 20) + (int64_t{64} << 10);
};

class NormService {
 public:
  // The worker and the telemetry outlive the service.
  NormService(const NormServiceOptions& options, DeviceWorker& worker, Telemetry& telemetry);
  ~NormService();  // REQUIRES: Shutdown was called, or Start was not
  NormService(const NormService&) = delete;
  NormService& operator=(const NormService&) = delete;

  // Adds the services and completion queues. Once, before BuildAndStart.
  void Register(grpc::ServerBuilder& builder);

  // Starts the request threads. Once, after BuildAndStart.
  void Start();

  // From now on calls get UNAVAILABLE "draining"; accepted ones go on.
  void RefuseNew();

  // Calls that arrived, refused ones included, and those of them that are not answered.
  int64_t arrived();
  int64_t unanswered();

  // Waits until every accepted call is answered. False: the deadline, a reading of the worker's
  // clock, passed first.
  bool WaitIdle(absl::Time deadline);

  // Waits until gRPC has let go of every call, ends the threads. After grpc::Server::Shutdown.
  void Shutdown();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace normd

#endif  // NORMD_SERVER_RPC_NORM_SERVICE_H_
