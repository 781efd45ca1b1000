#include "server/stop_signals.h"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace normd {
namespace {

sigset_t Signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

void StopSignals::Block() {
  const sigset_t set = Signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

StopSignals::StopSignals(std::function<void(int number)> on_signal)
    : on_signal_(std::move(on_signal)), thread_([this] { Wait(); }) {}

StopSignals::~StopSignals() {
  ending_.store(true);
  pthread_kill(thread_.native_handle(), SIGTERM);  // only to wake it
  thread_.join();
}

void StopSignals::Wait() {
  const sigset_t set = Signals();
  while (true) {
    int number = 0;
    if (sigwait(&set, &number) != 0) continue;
    if (ending_.load()) return;
    on_signal_(number);
  }
}

}  // namespace normd
