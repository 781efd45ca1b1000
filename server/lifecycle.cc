#include "server/lifecycle.h"

#include <csignal>

#include "server/exit_codes.h"

namespace normd {

void Lifecycle::Started() {
  if (state_ == State::kStarting) state_ = State::kReady;
}

void Lifecycle::Signal(int number, absl::Time now) {
  switch (state_) {
    case State::kStarting:
      Stop(kExitOk);  // nothing was accepted
      return;
    case State::kReady:
      if (number == SIGINT || options_.drain_delay <= absl::ZeroDuration()) {
        Refuse(now);
        return;
      }
      state_ = State::kDraining;
      deadline_ = now + options_.drain_delay;
      return;
    case State::kDraining:
      Refuse(now);
      return;
    case State::kRefusing:
      deadline_ = now;
      return;
    case State::kStopped:
      return;
  }
}

void Lifecycle::DeviceLost(absl::Time now) {
  device_lost_ = true;
  if (state_ == State::kStarting) {
    Stop(kExitDeviceLost);
  } else if (state_ == State::kReady || state_ == State::kDraining) {
    Refuse(now);
  }
}

void Lifecycle::Advance(absl::Time now, const Traffic& traffic) {
  if (state_ == State::kDraining && now >= deadline_) {
    Refuse(now);
    return;
  }
  if (state_ != State::kRefusing) return;
  if (traffic.arrived != arrived_) last_arrival_ = now;
  arrived_ = traffic.arrived;
  if (traffic.unanswered > 0) {
    last_unanswered_ = now;
    if (now >= deadline_) Stop(device_lost_ ? kExitDeviceLost : kExitDrainTimeout);
    return;
  }
  const bool quiet = now - last_arrival_ >= kQuiet || now - last_unanswered_ >= kMaxLinger;
  if (quiet || now >= deadline_) Stop(device_lost_ ? kExitDeviceLost : kExitOk);
}

void Lifecycle::Refuse(absl::Time now) {
  state_ = State::kRefusing;
  deadline_ = now + options_.drain_timeout;
  last_arrival_ = now;
  last_unanswered_ = now;
}

void Lifecycle::Stop(int exit_code) {
  state_ = State::kStopped;
  deadline_ = absl::InfiniteFuture();
  exit_code_ = exit_code;
}

const char* Name(Lifecycle::State state) {
  switch (state) {
    case Lifecycle::State::kStarting:
      return "starting";
    case Lifecycle::State::kReady:
      return "ready";
    case Lifecycle::State::kDraining:
      return "draining";
    case Lifecycle::State::kRefusing:
      return "refusing";
    case Lifecycle::State::kStopped:
      return "stopped";
  }
  return "";
}

}  // namespace normd
