// Writes ForwardResponse and BackwardResponse: small slices of header between slices that lend the
// staging memory to the transport. Thread-safe.
#ifndef NORMD_SERVER_RPC_ENCODE_H_
#define NORMD_SERVER_RPC_ENCODE_H_

#include "grpcpp/support/byte_buffer.h"
#include "normd/v1/norm.pb.h"
#include "server/rpc/staged_request.h"

namespace normd {

// The block of `staged` goes back to its arena when gRPC has let go of the reply, on one of its
// threads. Copies no tensor.
grpc::ByteBuffer EncodeReply(const StagedRequest& staged, const v1::Execution& execution);

}  // namespace normd

#endif  // NORMD_SERVER_RPC_ENCODE_H_
