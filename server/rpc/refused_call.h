// RefusedCall: answers a call of a method that no service of the server implements.
#ifndef NORMD_SERVER_RPC_REFUSED_CALL_H_
#define NORMD_SERVER_RPC_REFUSED_CALL_H_

#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/async_generic_service.h"
#include "server/rpc/call.h"

namespace normd {

class RefusedCall final : public Call {
 public:
  // Makes a call that waits for a request. The service, the queue and the counter outlive it.
  static void Post(grpc::AsyncGenericService& service, grpc::ServerCompletionQueue& queue,
                   CallCounter& counter);

 private:
  RefusedCall(grpc::AsyncGenericService& service, grpc::ServerCompletionQueue& queue,
              CallCounter& counter);

  void PostNext() override;
  void Arrived() override;

  grpc::AsyncGenericService& service_;
  grpc::ServerCompletionQueue& queue_;
  CallCounter& counter_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_;
};

}  // namespace normd

#endif  // NORMD_SERVER_RPC_REFUSED_CALL_H_
