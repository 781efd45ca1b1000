#include "client/cpp/call_status.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cpp/client.h"
#include "google/protobuf/any.pb.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/io/coded_stream.h"
#include "kernels/field_error.h"

namespace normd {
namespace {

using google::protobuf::io::CodedInputStream;

constexpr char kRetryPayload[] = "normd/retry_delay";

// Length-delimited fields of google.rpc messages, which have no C++ package in the distributions.
// https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto
constexpr uint32_t Key(uint32_t field_number) { return field_number << 3 | 2; }
constexpr uint32_t kStatusDetails = Key(3);
constexpr uint32_t kBadRequestViolations = Key(1);
constexpr uint32_t kViolationField = Key(1);
constexpr uint32_t kViolationDescription = Key(2);
constexpr uint32_t kRetryInfoDelay = Key(1);

// Calls `visit(key, value)` for each field; other than length-delimited ones have no value. Stops
// at the first byte that makes no sense.
template <typename Visit>
void ForEachField(const std::string& message, Visit visit) {
  CodedInputStream in(reinterpret_cast<const uint8_t*>(message.data()),
                      static_cast<int>(message.size()));
  while (const uint32_t tag = in.ReadTag()) {
    uint64_t number = 0;
    uint32_t length = 0;
    std::string value;
    switch (tag & 7) {
      case 0:
        if (!in.ReadVarint64(&number)) return;
        break;
      case 2:
        if (!in.ReadVarint32(&length) || length > message.size()) return;
        if (!in.ReadString(&value, static_cast<int>(length))) return;
        visit(tag, value);
        break;
      default:
        return;  // google.rpc has no other kinds
    }
  }
}

struct Details {
  std::string field;
  std::string description;
  std::optional<absl::Duration> retry_delay;
};

void ReadViolation(const std::string& violation, Details& details) {
  ForEachField(violation, [&](uint32_t key, const std::string& value) {
    if (key == kViolationField) details.field = value;
    if (key == kViolationDescription) details.description = value;
  });
}

void ReadDetail(const std::string& serialized, Details& details) {
  google::protobuf::Any any;
  if (!any.ParseFromString(serialized)) return;
  const absl::string_view url = any.type_url();
  if (absl::EndsWith(url, "/google.rpc.BadRequest")) {
    ForEachField(any.value(), [&](uint32_t key, const std::string& value) {
      if (key == kBadRequestViolations && details.field.empty()) ReadViolation(value, details);
    });
  } else if (absl::EndsWith(url, "/google.rpc.RetryInfo")) {
    ForEachField(any.value(), [&](uint32_t key, const std::string& value) {
      google::protobuf::Duration delay;
      if (key != kRetryInfoDelay || !delay.ParseFromString(value)) return;
      details.retry_delay = absl::Seconds(delay.seconds()) + absl::Nanoseconds(delay.nanos());
    });
  }
}

}  // namespace

absl::Status ToStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  // The codes have the same numbers.
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  Details details;
  ForEachField(status.error_details(), [&](uint32_t key, const std::string& value) {
    if (key == kStatusDetails) ReadDetail(value, details);
  });
  absl::Status result = details.field.empty()
                            ? absl::Status(code, status.error_message())
                            : FieldError(code, details.field, details.description);
  if (details.retry_delay.has_value()) {
    result.SetPayload(kRetryPayload, absl::Cord(absl::FormatDuration(*details.retry_delay)));
  }
  return result;
}

std::optional<absl::Duration> RetryDelayOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryPayload);
  absl::Duration delay;
  if (!payload.has_value() || !absl::ParseDuration(std::string(*payload), &delay)) {
    return std::nullopt;
  }
  return delay;
}

}  // namespace normd
