// AdminService: what operators ask. Runs on gRPC's own threads, never on those of requests.
#ifndef NORMD_SERVER_ADMIN_SERVICE_H_
#define NORMD_SERVER_ADMIN_SERVICE_H_

#include <functional>

#include "normd/v1/admin.grpc.pb.h"

namespace normd {

// Thread-safe.
class AdminService final : public v1::AdminService::CallbackService {
 public:
  // ServerInfo answers `info`, with each device's `up` as `device_up` says at that moment.
  AdminService(v1::ServerInfoResponse info, std::function<bool()> device_up);

  grpc::ServerUnaryReactor* ServerInfo(grpc::CallbackServerContext* context,
                                       const v1::ServerInfoRequest* request,
                                       v1::ServerInfoResponse* response) override;
  grpc::ServerUnaryReactor* Statistics(grpc::CallbackServerContext* context,
                                       const v1::StatisticsRequest* request,
                                       v1::StatisticsResponse* response) override;
  grpc::ServerUnaryReactor* Drain(grpc::CallbackServerContext* context,
                                  const v1::DrainRequest* request,
                                  v1::DrainResponse* response) override;

 private:
  const v1::ServerInfoResponse info_;
  const std::function<bool()> device_up_;
};

}  // namespace normd

#endif  // NORMD_SERVER_ADMIN_SERVICE_H_
