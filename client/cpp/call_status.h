// From a gRPC status, with google.rpc details in its trailer, to an absl::Status of this client.
#ifndef NORMD_CLIENT_CPP_CALL_STATUS_H_
#define NORMD_CLIENT_CPP_CALL_STATUS_H_

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace normd {

// The same code and text. The first field violation becomes a FieldError, a RetryInfo what
// RetryDelayOf reads. Details that cannot be read are left out.
absl::Status ToStatus(const grpc::Status& status);

}  // namespace normd

#endif  // NORMD_CLIENT_CPP_CALL_STATUS_H_
