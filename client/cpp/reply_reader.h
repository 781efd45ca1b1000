// Reads a reply from its slices: small fields by the generated classes, payloads straight into the
// memory that the Outputs named, one copy. Thread-safe: no state.
#ifndef NORMD_CLIENT_CPP_REPLY_READER_H_
#define NORMD_CLIENT_CPP_REPLY_READER_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "client/cpp/calls.h"
#include "client/cpp/tensor.h"
#include "grpcpp/support/byte_buffer.h"

namespace normd {

// One output of a call: its field in the reply, where it goes, and what describes it then.
struct Expected {
  int field_number = 0;
  const char* name = "";
  const Output* output = nullptr;
  std::optional<Tensor>* result = nullptr;
};

// Fills every result that is wanted, and `execution`. Fields in any order, unknown ones skipped.
// INVALID_ARGUMENT with the field when the caller's memory has not the size of the output; INTERNAL
// when the reply is no such message or lacks an output.
absl::Status ReadReply(grpc::ByteBuffer& reply, absl::Span<const Expected> expected,
                       Execution& execution);

}  // namespace normd

#endif  // NORMD_CLIENT_CPP_REPLY_READER_H_
