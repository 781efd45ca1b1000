#include "kernels/field_error.h"

#include <gtest/gtest.h>

namespace normd {
namespace {

TEST(FieldErrorTest, NamesTheFieldInTheMessageAndApart) {
  const absl::Status status = FieldError("op.eps", "is required");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "op.eps: is required");
  EXPECT_EQ(FieldOf(status), "op.eps");
  EXPECT_EQ(DescriptionOf(status), "is required");
}

TEST(FieldErrorTest, CarriesAnotherCode) {
  const absl::Status status =
      FieldError(absl::StatusCode::kUnimplemented, "x.buffer", "is not served");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(FieldOf(status), "x.buffer");
}

TEST(FieldErrorTest, ADescriptionMayHoldAColon) {
  EXPECT_EQ(DescriptionOf(FieldError("x.shape", "bad: 1: 2")), "bad: 1: 2");
}

TEST(FieldErrorTest, OtherStatusesHaveNoField) {
  const absl::Status status = absl::InternalError("disk: full");
  EXPECT_EQ(FieldOf(status), "");
  EXPECT_EQ(DescriptionOf(status), "disk: full");
  EXPECT_EQ(FieldOf(absl::OkStatus()), "");
  EXPECT_EQ(DescriptionOf(absl::OkStatus()), "");
}

}  // namespace
}  // namespace normd
