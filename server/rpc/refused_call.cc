#include "server/rpc/refused_call.h"

#include <string>

#include "absl/strings/match.h"

namespace normd {
namespace {

// `method` is "/normd.v1.BufferService/Upload".
std::string Text(const std::string& method) {
  constexpr char kPrefix[] = "/normd.v1.";
  if (!absl::StartsWith(method, kPrefix)) return "there is no such method";
  return method.substr(sizeof(kPrefix) - 1) + " is not available in this version";
}

}  // namespace

void RefusedCall::Post(grpc::AsyncGenericService& service, grpc::ServerCompletionQueue& queue,
                       CallCounter& counter) {
  auto* call = new RefusedCall(service, queue, counter);  // deletes itself (call.h)
  service.RequestCall(&call->context_, &call->stream_, &queue, &queue, call->request_tag());
}

RefusedCall::RefusedCall(grpc::AsyncGenericService& service, grpc::ServerCompletionQueue& queue,
                         CallCounter& counter)
    : Call(counter), service_(service), queue_(queue), counter_(counter), stream_(&context_) {}

void RefusedCall::PostNext() { Post(service_, queue_, counter_); }

void RefusedCall::Arrived() {
  stream_.Finish({grpc::StatusCode::UNIMPLEMENTED, Text(context_.method())}, finish_tag());
}

}  // namespace normd
