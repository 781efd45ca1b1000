#include "server/rpc/deadline.h"

#include "grpc/support/time.h"

namespace normd {
namespace {

// For the way of the request, on top of the rounding.
constexpr absl::Duration kTransit = absl::Milliseconds(5);

}  // namespace

absl::Time DeadlineOf(const grpc::ServerContext& context, absl::Time now) {
  const gpr_timespec deadline = context.raw_deadline();
  if (gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) == 0) {
    return absl::InfiniteFuture();
  }
  const gpr_timespec left = gpr_time_sub(deadline, gpr_now(deadline.clock_type));
  return now + absl::Seconds(left.tv_sec) + absl::Nanoseconds(left.tv_nsec);
}

absl::Status WhyCancelled(absl::Time arrived, absl::Time deadline, absl::Time now) {
  if (deadline != absl::InfiniteFuture() &&
      now + (deadline - arrived) / 100 + kTransit >= deadline) {
    return absl::DeadlineExceededError("the deadline passed before the request ran");
  }
  return absl::CancelledError("the client cancelled the call");
}

}  // namespace normd
