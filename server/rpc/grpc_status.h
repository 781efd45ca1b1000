// The conversion from absl::Status to the status of a gRPC call, with its details.
#ifndef NORMD_SERVER_RPC_GRPC_STATUS_H_
#define NORMD_SERVER_RPC_GRPC_STATUS_H_

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace normd {

// Code and text as they are; the field of a FieldError becomes a google.rpc.BadRequest, the delay
// of a RetryLater a google.rpc.RetryInfo.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace normd

#endif  // NORMD_SERVER_RPC_GRPC_STATUS_H_
