// StagedRequest: the operands and results of one request in one block of staging memory, and the
// segment that points to them.
#ifndef NORMD_SERVER_RPC_STAGED_REQUEST_H_
#define NORMD_SERVER_RPC_STAGED_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "grpcpp/support/slice.h"
#include "kernels/data_type.h"
#include "kernels/segment.h"
#include "server/execution/staging_arena.h"
#include "server/rpc/request_header.h"
#include "server/rpc/validate.h"

namespace normd {

// One tensor of the reply, written by the kernel.
struct StagedOutput {
  uint32_t response_field = 0;
  DataType dtype = DataType::kFloat32;
  Shape shape;
  std::byte* data = nullptr;
  int64_t bytes = 0;
};

struct StagedRequest {
  std::shared_ptr<StagingBlock> block;  // shared with the slices of the reply
  Segment segment;
  absl::InlinedVector<StagedOutput, 5> outputs;  // in the order of the response's fields
};

// Takes a block and copies the inline bytes into it, once: the slices are not needed any more.
// RESOURCE_EXHAUSTED as StagingArena::Allocate says.
// REQUIRES: `request` is ValidateRequest(header), `header` is Decode(slices)
absl::StatusOr<StagedRequest> Stage(const RequestHeader& header, const NormRequest& request,
                                    absl::Span<const grpc::Slice> slices, StagingArena& arena);

}  // namespace normd

#endif  // NORMD_SERVER_RPC_STAGED_REQUEST_H_
