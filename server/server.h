// Server: all parts of `normd serve`, put together, started and stopped in their order.
#ifndef NORMD_SERVER_SERVER_H_
#define NORMD_SERVER_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/backend.h"
#include "server/admin_service.h"
#include "server/config.h"
#include "server/execution/device_worker.h"
#include "server/port_file.h"
#include "server/rpc/norm_service.h"
#include "server/telemetry/metrics_server.h"
#include "server/telemetry/telemetry.h"
#include "server/transport.h"

namespace normd {

// Belongs to one thread.
class Server {
 public:
  // Opens the device, tries it out, takes the memory, listens. Health says NOT_SERVING. An error
  // is one line for the operator. `on_device_lost` is called at most once, on another thread.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServeConfig& config,
                                                       std::function<void()> on_device_lost);

  // Health says SERVING, and the port file is there.
  absl::Status BeginServing();
  // Health says NOT_SERVING; everything is still served.
  void TurnAway();
  // New requests are answered UNAVAILABLE.
  void RefuseNew();
  void MarkDeviceLost();

  // Calls for ops; those whose answer is not with the transport yet are unanswered.
  Traffic traffic() { return {norm_->arrived(), norm_->unanswered()}; }

  // Ends everything in order. Waits for what the device has begun.
  void Stop();
  // Removes the files that others see, for an end without Stop.
  void RemoveFiles();

 private:
  explicit Server(const ServeConfig& config) : config_(config) {}

  absl::Status StartMetrics();
  absl::Status StartDevice(std::function<void()> on_device_lost);
  absl::Status StartServices();
  v1::ServerInfoResponse Info() const;

  const ServeConfig config_;
  double copy_bytes_per_second_ = 0;
  // In the order in which they are made; they end the other way round.
  std::shared_ptr<Telemetry> telemetry_;
  std::unique_ptr<MetricsServer> metrics_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<DeviceWorker> worker_;
  std::unique_ptr<NormService> norm_;
  std::unique_ptr<AdminService> admin_;
  std::unique_ptr<Transport> transport_;
  PortFile port_file_;
};

}  // namespace normd

#endif  // NORMD_SERVER_SERVER_H_
