#include "server/rpc/grpc_status.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "kernels/field_error.h"
#include "server/batching/retry.h"
#include "server/rpc/error_details.pb.h"

namespace normd {
namespace {

internal::Status DetailsOf(const grpc::Status& status) {
  internal::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  return details;
}

TEST(GrpcStatus, CodeAndTextStayAsTheyAre) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  const grpc::Status status = ToGrpcStatus(absl::UnavailableError("the server is draining"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "the server is draining");
  EXPECT_EQ(status.error_details(), "");
}

TEST(GrpcStatus, AFieldBecomesABadRequest) {
  const grpc::Status status = ToGrpcStatus(FieldError("x.shape", "is required"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "x.shape: is required");
  const internal::Status details = DetailsOf(status);
  EXPECT_EQ(details.code(), 3);
  EXPECT_EQ(details.message(), "x.shape: is required");
  ASSERT_EQ(details.details_size(), 1);
  EXPECT_EQ(details.details(0).type_url(), "type.googleapis.com/google.rpc.BadRequest");
  internal::BadRequest bad_request;
  ASSERT_TRUE(bad_request.ParseFromString(details.details(0).value()));
  ASSERT_EQ(bad_request.field_violations_size(), 1);
  EXPECT_EQ(bad_request.field_violations(0).field(), "x.shape");
  EXPECT_EQ(bad_request.field_violations(0).description(), "is required");
}

TEST(GrpcStatus, ADelayBecomesARetryInfo) {
  const grpc::Status status = ToGrpcStatus(RetryLater("full", absl::Milliseconds(1250)));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  const internal::Status details = DetailsOf(status);
  ASSERT_EQ(details.details_size(), 1);
  EXPECT_EQ(details.details(0).type_url(), "type.googleapis.com/google.rpc.RetryInfo");
  internal::RetryInfo retry;
  ASSERT_TRUE(retry.ParseFromString(details.details(0).value()));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  EXPECT_EQ(retry.retry_delay().nanos(), 250'000'000);
}

}  // namespace
}  // namespace normd
