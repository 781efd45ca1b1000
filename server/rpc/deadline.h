// The deadline that a client sent with its call.
#ifndef NORMD_SERVER_RPC_DEADLINE_H_
#define NORMD_SERVER_RPC_DEADLINE_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/server_context.h"

namespace normd {

// As a reading of the clock that says `now`; absl::InfiniteFuture() without one.
absl::Time DeadlineOf(const grpc::ServerContext& context, absl::Time now);

// What gRPC's notice that a call ended early means. A client whose deadline passes cancels its
// call, and is ahead of us: the time left travels rounded up, by at most a hundredth, and starts to
// run here only on arrival. So a cancellation just before the deadline is the deadline.
absl::Status WhyCancelled(absl::Time arrived, absl::Time deadline, absl::Time now);

}  // namespace normd

#endif  // NORMD_SERVER_RPC_DEADLINE_H_
