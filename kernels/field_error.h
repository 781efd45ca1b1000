// Errors about one field of a request, named as the wire names it ("op.eps", "x.shape").
#ifndef NORMD_KERNELS_FIELD_ERROR_H_
#define NORMD_KERNELS_FIELD_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace normd {

// INVALID_ARGUMENT "<field>: <description>"; FieldOf and DescriptionOf give the parts back.
absl::Status FieldError(absl::string_view field, absl::string_view description);

// The same with another code, for a field that is well formed but cannot be served
// (OUT_OF_RANGE, UNIMPLEMENTED).
absl::Status FieldError(absl::StatusCode code, absl::string_view field,
                        absl::string_view description);

// The field of a status made by FieldError; empty for any other status.
std::string FieldOf(const absl::Status& status);

// The message without the field.
std::string DescriptionOf(const absl::Status& status);

}  // namespace normd

#endif  // NORMD_KERNELS_FIELD_ERROR_H_
