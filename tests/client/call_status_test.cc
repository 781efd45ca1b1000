#include "client/cpp/call_status.h"

#include <string>

#include "client/cpp/client.h"
#include "gtest/gtest.h"
#include "kernels/field_error.h"

namespace normd {
namespace {

std::string Field(char number, const std::string& value) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(value.size())} + value;
}

std::string Any(const std::string& type, const std::string& value) {
  return Field(1, "type.googleapis.com/google.rpc." + type) + Field(2, value);
}

// google.rpc.Status, written by hand: code, message, details.
std::string Details(const std::string& any) {
  return "\x08\x03" + Field(2, "text") + Field(3, any);
}

TEST(CallStatus, ReadsTheFirstFieldViolation) {
  const std::string violations = Field(1, Field(1, "op.eps") + Field(2, "is required")) +
                                 Field(1, Field(1, "x.shape") + Field(2, "second"));
  const absl::Status status = ToStatus({grpc::StatusCode::INVALID_ARGUMENT, "op.eps: is required",
                                        Details(Any("BadRequest", violations))});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(status), "op.eps");
  EXPECT_EQ(DescriptionOf(status), "is required");
  EXPECT_EQ(RetryDelayOf(status), std::nullopt);
}

TEST(CallStatus, ReadsTheRetryDelay) {
  // Duration{seconds: 1, nanos: 500000000}
  const std::string delay = Field(1, std::string("\x08\x01\x10\x80\xCA\xB5\xEE\x01"));
  const absl::Status status = ToStatus(
      {grpc::StatusCode::RESOURCE_EXHAUSTED, "queue is full", Details(Any("RetryInfo", delay))});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "queue is full");
  EXPECT_EQ(RetryDelayOf(status), absl::Milliseconds(1500));
}

TEST(CallStatus, KeepsCodeAndTextWhenDetailsAreMissingOrGarbage) {
  for (const std::string& details :
       {std::string(), std::string("\xFF\xFF\xFF"),
        std::string("\x1A\x7F"
                    "a"),
        Details("\xFF"), Details(Any("DebugInfo", "x")), Details(Any("BadRequest", "\x1F"))}) {
    const absl::Status status = ToStatus({grpc::StatusCode::UNAVAILABLE, "draining", details});
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(status.message(), "draining");
    EXPECT_EQ(FieldOf(status), "");
  }
  EXPECT_TRUE(ToStatus(grpc::Status::OK).ok());
}

}  // namespace
}  // namespace normd
