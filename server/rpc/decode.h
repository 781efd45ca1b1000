// Reads a ForwardRequest or BackwardRequest from the slices of a received message.
//
// Agrees with the generated parser on everything that a generated serializer writes, in any order
// of fields, known ones and unknown ones. Stricter on what no serializer writes: a field with
// another wire type, a message field given twice, and groups are errors. Thread-safe.
#ifndef NORMD_SERVER_RPC_DECODE_H_
#define NORMD_SERVER_RPC_DECODE_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "grpcpp/support/slice.h"
#include "kernels/norm_spec.h"
#include "server/rpc/request_header.h"

namespace normd {

// Fields of one message, nested ones included: unknown fields cost a step each.
inline constexpr int kMaxFields = 1024;

// The header; its WireBytes speak of `slices`. INVALID_ARGUMENT names the field that is cut off,
// malformed or above its limit.
absl::StatusOr<RequestHeader> Decode(absl::Span<const grpc::Slice> slices, Direction direction);

}  // namespace normd

#endif  // NORMD_SERVER_RPC_DECODE_H_
