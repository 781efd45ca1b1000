// Refusals that pass: an error that says when to try again.
#ifndef NORMD_SERVER_BATCHING_RETRY_H_
#define NORMD_SERVER_BATCHING_RETRY_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace normd {

// RESOURCE_EXHAUSTED with a delay after which the same call may succeed.
absl::Status RetryLater(absl::string_view message, absl::Duration delay);

// The delay of a status made by RetryLater.
std::optional<absl::Duration> RetryDelayOf(const absl::Status& status);

}  // namespace normd

#endif  // NORMD_SERVER_BATCHING_RETRY_H_
