#include "server/rpc/deadline.h"

#include "gtest/gtest.h"

namespace normd {
namespace {

constexpr auto kCancelled = absl::StatusCode::kCancelled;
constexpr auto kDeadline = absl::StatusCode::kDeadlineExceeded;

absl::StatusCode CodeAfter(absl::Duration waited, absl::Duration timeout) {
  const absl::Time arrived = absl::UnixEpoch();
  return WhyCancelled(arrived, arrived + timeout, arrived + waited).code();
}

TEST(WhyCancelled, WellBeforeTheDeadlineItIsTheClient) {
  EXPECT_EQ(CodeAfter(absl::Milliseconds(500), absl::Seconds(1)), kCancelled);
  EXPECT_EQ(CodeAfter(absl::Milliseconds(984), absl::Seconds(1)), kCancelled);
  EXPECT_EQ(CodeAfter(absl::Hours(24), absl::InfiniteDuration()), kCancelled);
}

TEST(WhyCancelled, JustBeforeTheDeadlineItIsTheDeadline) {
  EXPECT_EQ(CodeAfter(absl::Milliseconds(985), absl::Seconds(1)), kDeadline);
  EXPECT_EQ(CodeAfter(absl::Seconds(1), absl::Seconds(1)), kDeadline);
  EXPECT_EQ(CodeAfter(absl::Seconds(9), absl::Seconds(1)), kDeadline);
}

}  // namespace
}  // namespace normd
