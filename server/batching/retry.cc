#include "server/batching/retry.h"

#include <cstdint>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace normd {
namespace {

constexpr char kDelayPayload[] = "normd/retry_delay_ns";

}  // namespace

absl::Status RetryLater(absl::string_view message, absl::Duration delay) {
  absl::Status status = absl::ResourceExhaustedError(message);
  status.SetPayload(kDelayPayload, absl::Cord(absl::StrCat(absl::ToInt64Nanoseconds(delay))));
  return status;
}

std::optional<absl::Duration> RetryDelayOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kDelayPayload);
  if (!payload.has_value()) return std::nullopt;
  int64_t delay_ns = 0;
  if (!absl::SimpleAtoi(std::string(*payload), &delay_ns)) return std::nullopt;
  return absl::Nanoseconds(delay_ns);
}

}  // namespace normd
