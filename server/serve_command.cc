#include "server/serve_command.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/mutex.h"
#include "server/batching/clock.h"
#include "server/build_info.h"
#include "server/exit_codes.h"
#include "server/heap.h"
#include "server/lifecycle.h"
#include "server/server.h"
#include "server/stop_signals.h"
#include "server/telemetry/log.h"

namespace normd {
namespace {

// How often traffic is looked at while new requests are refused.
constexpr absl::Duration kTrafficCheck = absl::Milliseconds(5);

// What other threads tell the main thread. Thread-safe.
class Inputs {
 public:
  enum class Kind : uint8_t { kStarted, kSignal, kDeviceLost };
  struct Input {
    Kind kind = Kind::kStarted;
    int signal = 0;  // kSignal
  };

  void Put(Input input) {
    const MutexLock lock(mutex_);
    inputs_.push_back(input);
    arrived_.SignalAll();
  }

  // The oldest input; empty when none comes until `time`.
  std::optional<Input> Take(absl::Time time) {
    const MutexLock lock(mutex_);
    while (inputs_.empty()) {
      if (Clock::Real().Now() >= time) return std::nullopt;
      Clock::Real().WaitUntil(arrived_, mutex_, time);
    }
    const Input input = inputs_.front();
    inputs_.pop_front();
    return input;
  }

 private:
  Mutex mutex_;
  CondVar arrived_;
  std::deque<Input> inputs_ ABSL_GUARDED_BY(mutex_);
};

void LogConfig() {
  const std::vector<std::pair<std::string, std::string>> values = EffectiveConfig();
  std::vector<LogField> fields = {{"version", kVersion}, {"commit", kCommit}, {"build", kBuild}};
  for (const auto& [name, value] : values) fields.emplace_back(name, value);
  LogFields(LogLevel::kInfo, "configuration", fields);
}

// Does what a new state asks for.
void Enter(Lifecycle::State state, Server& server) {
  Log(LogLevel::kInfo, Name(state), {{"unanswered_requests", server.traffic().unanswered}});
  if (state == Lifecycle::State::kDraining || state == Lifecycle::State::kRefusing) {
    server.TurnAway();
  }
  if (state == Lifecycle::State::kRefusing) server.RefuseNew();
}

void Apply(const Inputs::Input& input, Lifecycle& lifecycle) {
  const absl::Time now = Clock::Real().Now();
  switch (input.kind) {
    case Inputs::Kind::kStarted:
      lifecycle.Started();
      return;
    case Inputs::Kind::kSignal:
      Log(LogLevel::kInfo, "signal", {{"number", input.signal}});
      lifecycle.Signal(input.signal, now);
      return;
    case Inputs::Kind::kDeviceLost:
      Log(LogLevel::kError, "device lost");
      lifecycle.DeviceLost(now);
      return;
  }
}

// From ready to stopped. Returns the requests that were unanswered then.
int64_t RunUntilStopped(Lifecycle& lifecycle, Inputs& inputs, Server& server) {
  Clock& clock = Clock::Real();
  Traffic traffic;
  while (lifecycle.state() != Lifecycle::State::kStopped) {
    const Lifecycle::State before = lifecycle.state();
    const absl::Time until = before == Lifecycle::State::kRefusing
                                 ? std::min(lifecycle.deadline(), clock.Now() + kTrafficCheck)
                                 : lifecycle.deadline();
    if (const auto input = inputs.Take(until)) {
      if (input->kind == Inputs::Kind::kDeviceLost) server.MarkDeviceLost();
      Apply(*input, lifecycle);
    } else {
      traffic = server.traffic();
      lifecycle.Advance(clock.Now(), traffic);
    }
    if (lifecycle.state() != before) Enter(lifecycle.state(), server);
  }
  return traffic.unanswered;
}

// Ends the process where waiting for the device could take for ever.
[[noreturn]] void Abandon(Server& server, int64_t unanswered, int exit_code) {
  Log(LogLevel::kError, "the drain deadline passed",
      {{"unanswered_requests", unanswered}, {"exit_code", exit_code}});
  server.RemoveFiles();
  FlushLog();
  std::_Exit(exit_code);
}

}  // namespace

int ServeCommand(const ServeConfig& config) {
  if (config.tune_malloc) KeepFreedMemory();
  SetUpLog(config.log);
  LogConfig();
  Inputs inputs;
  Lifecycle lifecycle(config.lifecycle);
  const StopSignals signals([&](int number) { inputs.Put({Inputs::Kind::kSignal, number}); });
  // On a thread of its own: a device that hangs must not keep the process from its signals.
  absl::StatusOr<std::unique_ptr<Server>> server = absl::UnknownError("not started");
  std::thread starter([&] {
    server = Server::Start(config, [&] { inputs.Put({Inputs::Kind::kDeviceLost}); });
    inputs.Put({Inputs::Kind::kStarted});
  });
  while (lifecycle.state() == Lifecycle::State::kStarting) {
    Apply(*inputs.Take(absl::InfiniteFuture()), lifecycle);
  }
  if (lifecycle.state() == Lifecycle::State::kStopped) {
    Log(LogLevel::kInfo, "stopped before it was ready", {{"exit_code", lifecycle.exit_code()}});
    FlushLog();
    std::_Exit(lifecycle.exit_code());  // nothing was accepted, and the starter may hang
  }
  starter.join();
  const absl::Status begun = server.ok() ? (*server)->BeginServing() : server.status();
  if (!begun.ok()) {
    Log(LogLevel::kError, "cannot start", {{"reason", std::string(begun.message())}});
    if (server.ok()) (*server)->Stop();
    return kExitFailed;
  }
  const int64_t left = RunUntilStopped(lifecycle, inputs, **server);
  if (left > 0) Abandon(**server, left, lifecycle.exit_code());
  (*server)->Stop();
  Log(LogLevel::kInfo, "ended", {{"exit_code", lifecycle.exit_code()}});
  return lifecycle.exit_code();
}

}  // namespace normd
