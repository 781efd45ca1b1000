#include "server/rpc/grpc_status.h"

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "kernels/field_error.h"
#include "server/batching/retry.h"
#include "server/rpc/error_details.pb.h"

namespace normd {
namespace {

void AddDetail(const char* type, const google::protobuf::Message& detail,
               internal::Status& status) {
  google::protobuf::Any& any = *status.add_details();
  any.set_type_url(std::string("type.googleapis.com/google.rpc.") + type);
  any.set_value(detail.SerializeAsString());
}

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const auto code = static_cast<grpc::StatusCode>(status.code());
  const std::string message(status.message());
  internal::Status details;
  if (const std::string field = FieldOf(status); !field.empty()) {
    internal::BadRequest bad_request;
    auto& violation = *bad_request.add_field_violations();
    violation.set_field(field);
    violation.set_description(DescriptionOf(status));
    AddDetail("BadRequest", bad_request, details);
  }
  if (const std::optional<absl::Duration> delay = RetryDelayOf(status)) {
    internal::RetryInfo retry;
    const absl::Duration whole = absl::Trunc(*delay, absl::Seconds(1));
    retry.mutable_retry_delay()->set_seconds(absl::ToInt64Seconds(whole));
    retry.mutable_retry_delay()->set_nanos(
        static_cast<int32_t>(absl::ToInt64Nanoseconds(*delay - whole)));
    AddDetail("RetryInfo", retry, details);
  }
  if (details.details().empty()) return grpc::Status(code, message);
  details.set_code(code);
  details.set_message(message);
  return grpc::Status(code, message, details.SerializeAsString());
}

}  // namespace normd
