// Transport: the gRPC server around the services: listeners, limits, health, reflection.
#ifndef NORMD_SERVER_TRANSPORT_H_
#define NORMD_SERVER_TRANSPORT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "server/listen_address.h"
#include "server/socket_lock.h"

namespace normd {

// Units, ranges, defaults and advice: the flags of the same names (flags.cc).
struct TransportOptions {
  std::vector<ListenAddress> listen;
  bool reflection = false;
  int64_t max_message_bytes = 0;
  int64_t max_metadata_bytes = 0;
  int64_t max_concurrent_streams = 0;
  int64_t memory_bytes = 0;
  absl::Duration keepalive_time;
  absl::Duration min_ping_interval;
};

// Belongs to one thread.
class Transport {
 public:
  // Listens, with the services that `add_services` registers. Health says NOT_SERVING for each of
  // them. UNAVAILABLE with the address when it cannot listen there.
  static absl::StatusOr<std::unique_ptr<Transport>> Start(
      const TransportOptions& options,
      const std::function<void(grpc::ServerBuilder&)>& add_services);

  // What health Check and Watch say for the server ("") and for each service.
  void SetServing(bool serving);

  // Where it listens, with the ports that it got.
  const std::vector<std::string>& addresses() const { return addresses_; }

  // Stops listening, gives calls in flight `grace` to end, then cancels them.
  void Shutdown(absl::Duration grace);

  // Removes the Unix sockets, for an end without Shutdown.
  void RemoveFiles() { locks_.clear(); }

 private:
  Transport() = default;

  std::vector<SocketLock> locks_;
  std::vector<std::string> addresses_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace normd

#endif  // NORMD_SERVER_TRANSPORT_H_
