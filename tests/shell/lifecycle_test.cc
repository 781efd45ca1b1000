#include "server/lifecycle.h"

#include <csignal>

#include "gtest/gtest.h"
#include "server/exit_codes.h"

namespace normd {
namespace {

using State = Lifecycle::State;

constexpr LifecycleOptions kOptions = {.drain_delay = absl::Seconds(5),
                                       .drain_timeout = absl::Seconds(30)};
constexpr Traffic kIdle = {.arrived = 0, .unanswered = 0};
constexpr Traffic kBusy = {.arrived = 0, .unanswered = 1};
const absl::Time kStart = absl::FromUnixSeconds(1000);

absl::Time At(int seconds) { return kStart + absl::Seconds(seconds); }

Lifecycle Ready(const LifecycleOptions& options = kOptions) {
  Lifecycle lifecycle(options);
  lifecycle.Started();
  return lifecycle;
}

TEST(Lifecycle, StartsAndBecomesReady) {
  Lifecycle lifecycle(kOptions);
  EXPECT_EQ(lifecycle.state(), State::kStarting);
  lifecycle.Advance(At(100), kIdle);
  EXPECT_EQ(lifecycle.state(), State::kStarting);
  lifecycle.Started();
  EXPECT_EQ(lifecycle.state(), State::kReady);
  lifecycle.Advance(At(200), kIdle);
  EXPECT_EQ(lifecycle.state(), State::kReady);
  EXPECT_EQ(lifecycle.deadline(), absl::InfiniteFuture());
}

TEST(Lifecycle, SigtermServesOnThroughTheDelayThenRefusesThenStopsWhenIdle) {
  Lifecycle lifecycle = Ready();
  lifecycle.Signal(SIGTERM, At(0));
  EXPECT_EQ(lifecycle.state(), State::kDraining);
  EXPECT_EQ(lifecycle.deadline(), At(5));
  lifecycle.Advance(At(4), kIdle);
  EXPECT_EQ(lifecycle.state(), State::kDraining);
  lifecycle.Advance(At(5), kBusy);
  EXPECT_EQ(lifecycle.state(), State::kRefusing);
  EXPECT_EQ(lifecycle.deadline(), At(35));
  lifecycle.Advance(At(34), kBusy);
  EXPECT_EQ(lifecycle.state(), State::kRefusing);
  lifecycle.Advance(At(34), kIdle);
  EXPECT_EQ(lifecycle.state(), State::kStopped);
  EXPECT_EQ(lifecycle.exit_code(), kExitOk);
}

TEST(Lifecycle, PastTheDrainDeadlineItStopsWithItsOwnCode) {
  Lifecycle lifecycle = Ready();
  lifecycle.Signal(SIGTERM, At(0));
  lifecycle.Advance(At(5), kBusy);
  lifecycle.Advance(At(35), kBusy);
  EXPECT_EQ(lifecycle.state(), State::kStopped);
  EXPECT_EQ(lifecycle.exit_code(), kExitDrainTimeout);
}

TEST(Lifecycle, IdleAtTheDeadlineIsInTime) {
  Lifecycle lifecycle = Ready();
  lifecycle.Signal(SIGINT, At(0));
  lifecycle.Advance(At(30), kIdle);
  EXPECT_EQ(lifecycle.exit_code(), kExitOk);
}

TEST(Lifecycle, RefusesUntilNoCallHasComeForAWhile) {
  const absl::Duration kMoment = Lifecycle::kQuiet / 2;
  Lifecycle lifecycle = Ready();
  lifecycle.Signal(SIGINT, At(0));
  lifecycle.Advance(At(0) + kMoment, {.arrived = 0});
  EXPECT_EQ(lifecycle.state(), State::kRefusing);
  lifecycle.Advance(At(0) + 2 * kMoment, {.arrived = 1});
  EXPECT_EQ(lifecycle.state(), State::kRefusing);
  lifecycle.Advance(At(0) + 3 * kMoment, {.arrived = 1});
  EXPECT_EQ(lifecycle.state(), State::kRefusing);
  lifecycle.Advance(At(0) + 4 * kMoment, {.arrived = 1});
  EXPECT_EQ(lifecycle.state(), State::kStopped);
  EXPECT_EQ(lifecycle.exit_code(), kExitOk);
}

TEST(Lifecycle, CallsWithoutEndCannotHoldIt) {
  Lifecycle lifecycle = Ready();
  lifecycle.Signal(SIGINT, At(0));
  absl::Time now = At(2);
  lifecycle.Advance(now, {.arrived = 1, .unanswered = 1});
  const absl::Time end = now + Lifecycle::kMaxLinger;
  for (int64_t calls = 2; now < end; ++calls) {
    EXPECT_EQ(lifecycle.state(), State::kRefusing);
    now += Lifecycle::kQuiet / 2;
    lifecycle.Advance(now, {.arrived = calls, .unanswered = 0});
  }
  EXPECT_EQ(lifecycle.state(), State::kStopped);
  EXPECT_EQ(lifecycle.exit_code(), kExitOk);
}

TEST(Lifecycle, SigintSkipsTheDelay) {
  Lifecycle lifecycle = Ready();
  lifecycle.Signal(SIGINT, At(0));
  EXPECT_EQ(lifecycle.state(), State::kRefusing);
  EXPECT_EQ(lifecycle.deadline(), At(30));
}

TEST(Lifecycle, NoDelayRefusesAtOnce) {
  Lifecycle lifecycle = Ready({.drain_delay = {}, .drain_timeout = absl::Seconds(1)});
  lifecycle.Signal(SIGTERM, At(0));
  EXPECT_EQ(lifecycle.state(), State::kRefusing);
}

TEST(Lifecycle, ASecondSignalEndsTheDelay) {
  for (const int second : {SIGTERM, SIGINT}) {
    Lifecycle lifecycle = Ready();
    lifecycle.Signal(SIGTERM, At(0));
    lifecycle.Signal(second, At(1));
    EXPECT_EQ(lifecycle.state(), State::kRefusing);
    EXPECT_EQ(lifecycle.deadline(), At(31));
  }
}

TEST(Lifecycle, ASignalWhileRefusingEndsTheWait) {
  Lifecycle lifecycle = Ready();
  lifecycle.Signal(SIGINT, At(0));
  lifecycle.Signal(SIGINT, At(1));
  EXPECT_EQ(lifecycle.deadline(), At(1));
  lifecycle.Advance(At(1), kBusy);
  EXPECT_EQ(lifecycle.state(), State::kStopped);
  EXPECT_EQ(lifecycle.exit_code(), kExitDrainTimeout);
}

TEST(Lifecycle, ASignalBeforeReadyStopsAtOnceAndReadyComesTooLate) {
  Lifecycle lifecycle(kOptions);
  lifecycle.Signal(SIGTERM, At(0));
  EXPECT_EQ(lifecycle.state(), State::kStopped);
  EXPECT_EQ(lifecycle.exit_code(), kExitOk);
  lifecycle.Started();
  EXPECT_EQ(lifecycle.state(), State::kStopped);
}

TEST(Lifecycle, StoppedStaysStopped) {
  Lifecycle lifecycle = Ready();
  lifecycle.Signal(SIGINT, At(0));
  lifecycle.Advance(At(1), kIdle);
  lifecycle.Signal(SIGTERM, At(1));
  lifecycle.DeviceLost(At(1));
  lifecycle.Advance(At(100), kBusy);
  EXPECT_EQ(lifecycle.state(), State::kStopped);
  EXPECT_EQ(lifecycle.exit_code(), kExitOk);
}

TEST(Lifecycle, ALostDeviceRefusesAtOnceAndHasItsOwnCode) {
  for (const Traffic& traffic : {kIdle, kBusy}) {
    Lifecycle lifecycle = Ready();
    lifecycle.DeviceLost(At(0));
    EXPECT_EQ(lifecycle.state(), State::kRefusing);
    lifecycle.Advance(At(30), traffic);
    EXPECT_EQ(lifecycle.state(), State::kStopped);
    EXPECT_EQ(lifecycle.exit_code(), kExitDeviceLost);
  }
}

TEST(Lifecycle, ALostDeviceBeforeReadyStops) {
  Lifecycle lifecycle(kOptions);
  lifecycle.DeviceLost(At(0));
  EXPECT_EQ(lifecycle.state(), State::kStopped);
  EXPECT_EQ(lifecycle.exit_code(), kExitDeviceLost);
}

TEST(Lifecycle, ADeviceLostWhileDrainingEndsTheDelay) {
  Lifecycle lifecycle = Ready();
  lifecycle.Signal(SIGTERM, At(0));
  lifecycle.DeviceLost(At(1));
  EXPECT_EQ(lifecycle.state(), State::kRefusing);
  EXPECT_EQ(lifecycle.deadline(), At(31));
}

TEST(Lifecycle, StatesHaveNames) {
  EXPECT_STREQ(Name(State::kStarting), "starting");
  EXPECT_STREQ(Name(State::kReady), "ready");
  EXPECT_STREQ(Name(State::kDraining), "draining");
  EXPECT_STREQ(Name(State::kRefusing), "refusing");
  EXPECT_STREQ(Name(State::kStopped), "stopped");
}

}  // namespace
}  // namespace normd
