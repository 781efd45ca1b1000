// Lifecycle: what the server does when, from its start to its end, as a state machine without
// threads or clocks. Time is an argument, so that tests move it by hand.
//
//   starting --Started--> ready --SIGTERM--> draining --delay over--> refusing --idle--> stopped
//                              \--SIGINT--------------------------/      \--deadline--/
//
//   draining  health says NOT_SERVING, everything is still served
//   refusing  new requests are refused, accepted ones are finished
//
// A second signal ends the delay; one while refusing ends the wait for accepted requests. A lost
// device leads to refusing at once. Not thread-safe.
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

class Lifecycle {
 public:
  enum class State : uint8_t { kStarting, kReady, kDraining, kRefusing, kStopped };

  explicit Lifecycle(const LifecycleOptions& options) : options_(options) {}

  // The server can serve. Nothing happens when it was told to stop meanwhile.
  void Started();
  // SIGTERM or SIGINT arrived.
  void Signal(int number, absl::Time now);
  void DeviceLost(absl::Time now);
  // Time has passed; `idle`: every accepted request is answered.
  void Advance(absl::Time now, bool idle);

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
};

// "starting", "ready", "draining", "refusing", "stopped".
const char* Name(Lifecycle::State state);

}  // namespace normd

#endif  // NORMD_SERVER_LIFECYCLE_H_
