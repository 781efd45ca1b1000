#include "kernels/field_error.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"

namespace normd {
namespace {

constexpr char kFieldPayload[] = "normd/field";

}  // namespace

absl::Status FieldError(absl::StatusCode code, absl::string_view field,
                        absl::string_view description) {
  absl::Status status(code, absl::StrCat(field, ": ", description));
  status.SetPayload(kFieldPayload, absl::Cord(field));
  return status;
}

absl::Status FieldError(absl::string_view field, absl::string_view description) {
  return FieldError(absl::StatusCode::kInvalidArgument, field, description);
}

std::string FieldOf(const absl::Status& status) {
  const auto field = status.GetPayload(kFieldPayload);
  return field.has_value() ? std::string(*field) : std::string();
}

std::string DescriptionOf(const absl::Status& status) {
  const std::string message(status.message());
  const std::string field = FieldOf(status);
  return field.empty() ? message : message.substr(field.size() + 2);
}

}  // namespace normd
