// The small fields of a request: op and outputs, serialised, without the tensors. Thread-safe.
#ifndef NORMD_CLIENT_CPP_REQUEST_FIELDS_H_
#define NORMD_CLIENT_CPP_REQUEST_FIELDS_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/cpp/calls.h"
#include "kernels/norm_spec.h"

namespace normd {

// INVALID_ARGUMENT with the field for a value that is no member of its enum: the wire has no number
// for it. All else is the server's to judge.
absl::StatusOr<std::string> ForwardFields(NormKind kind, const ForwardCall& call);
absl::StatusOr<std::string> BackwardFields(NormKind kind, const BackwardCall& call);

}  // namespace normd

#endif  // NORMD_CLIENT_CPP_REQUEST_FIELDS_H_
