// Lifecycle: what the server does when, from its start to its end, as a state machine without
// threads or clocks. Time is an argument, so that tests move it by hand.
//
//   starting --Started--> ready --SIGTERM--> draining --delay over--> refusing --idle--> stopped
//                              \--SIGINT--------------------------/      \--deadline--/
//
//   draining  health says NOT_SERVING, everything is still served
//   refusing  new requests are refused, accepted ones are finished
//
// Refusing lasts until no call has come for kQuiet, at most kMaxLinger beyond the last answer: gRPC
// cuts off calls that arrive while it shuts down, instead of refusing them. A second signal ends
// the delay; one while refusing ends the wait for accepted requests. A lost device leads to
// refusing at once. Not thread-safe.
#ifndef NORMD_SERVER_LIFECYCLE_H_
#define NORMD_SERVER_LIFECYCLE_H_

#include <cstdint>

#include "absl/time/time.h"

namespace normd {

struct LifecycleOptions {
  // Units, ranges, defaults and advice: the flags of the same names (flags.cc).
  absl::Duration drain_delay;
  absl::Duration drain_timeout;
};

// Calls as the server has seen them so far.
struct Traffic {
  int64_t arrived = 0;     // in total
  int64_t unanswered = 0;  // of these
};

class Lifecycle {
 public:
  static constexpr absl::Duration kQuiet = absl::Milliseconds(100);
  static constexpr absl::Duration kMaxLinger = absl::Seconds(1);

  enum class State : uint8_t { kStarting, kReady, kDraining, kRefusing, kStopped };

  explicit Lifecycle(const LifecycleOptions& options) : options_(options) {}

  // The server can serve. Nothing happens when it was told to stop meanwhile.
  void Started();
  // SIGTERM or SIGINT arrived.
  void Signal(int number, absl::Time now);
  void DeviceLost(absl::Time now);
  // Time has passed.
  void Advance(absl::Time now, const Traffic& traffic);

  State state() const { return state_; }
  // When Advance changes the state next by time alone.
  absl::Time deadline() const { return deadline_; }
  // Of the process (exit_codes.h). REQUIRES: state() is kStopped
  int exit_code() const { return exit_code_; }

 private:
  void Refuse(absl::Time now);
  void Stop(int exit_code);

  const LifecycleOptions options_;
  State state_ = State::kStarting;
  bool device_lost_ = false;
  absl::Time deadline_ = absl::InfiniteFuture();
  int exit_code_ = 0;
  // While refusing.
  int64_t arrived_ = 0;
  absl::Time last_arrival_ = absl::InfinitePast();
  absl::Time last_unanswered_ = absl::InfinitePast();
};

// "starting", "ready", "draining", "refusing", "stopped".
const char* Name(Lifecycle::State state);

}  // namespace normd

#endif  // NORMD_SERVER_LIFECYCLE_H_
