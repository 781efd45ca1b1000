#include "server/admin_service.h"

#include <utility>

namespace normd {
namespace {

grpc::ServerUnaryReactor* Finish(grpc::CallbackServerContext* context, const grpc::Status& status) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

}  // namespace

AdminService::AdminService(v1::ServerInfoResponse info, std::function<bool()> device_up)
    : info_(std::move(info)), device_up_(std::move(device_up)) {}

grpc::ServerUnaryReactor* AdminService::ServerInfo(grpc::CallbackServerContext* context,
                                                   const v1::ServerInfoRequest* /*request*/,
                                                   v1::ServerInfoResponse* response) {
  *response = info_;
  for (v1::Device& device : *response->mutable_devices()) device.set_up(device_up_());
  return Finish(context, grpc::Status::OK);
}

grpc::ServerUnaryReactor* AdminService::Statistics(grpc::CallbackServerContext* context,
                                                   const v1::StatisticsRequest* /*request*/,
                                                   v1::StatisticsResponse* /*response*/) {
  return Finish(context,
                {grpc::StatusCode::UNIMPLEMENTED,
                 "this server keeps no statistics by key; its metrics have them by shape"});
}

grpc::ServerUnaryReactor* AdminService::Drain(grpc::CallbackServerContext* context,
                                              const v1::DrainRequest* /*request*/,
                                              v1::DrainResponse* /*response*/) {
  // Whoever may call could otherwise stop the server for all.
  return Finish(context, {grpc::StatusCode::UNIMPLEMENTED,
                          "this server does not know its callers, so none of them may drain it; "
                          "send the process SIGTERM"});
}

}  // namespace normd
