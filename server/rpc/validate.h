// The one place that judges a request: numbers of enums, presence, shapes, sizes, and which
// operands go together. All arithmetic on what the caller sent is checked. Thread-safe.
#ifndef NORMD_SERVER_RPC_VALIDATE_H_
#define NORMD_SERVER_RPC_VALIDATE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kernels/norm_spec.h"
#include "server/rpc/request_header.h"

namespace normd {

// A request that is right: every tensor has exactly the bytes that the spec and the rows say.
struct NormRequest {
  NormSpec spec;
  int64_t rows = 0;
  float eps = 0;
};

// INVALID_ARGUMENT, or UNIMPLEMENTED for operands in buffers and constants; the error names the
// field.
absl::StatusOr<NormRequest> ValidateRequest(const RequestHeader& header);

}  // namespace normd

#endif  // NORMD_SERVER_RPC_VALIDATE_H_
