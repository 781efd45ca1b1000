// StopSignals: SIGTERM and SIGINT, taken by a thread that waits for them, so that what they start
// runs as ordinary code and not in a signal handler.
#ifndef NORMD_SERVER_STOP_SIGNALS_H_
#define NORMD_SERVER_STOP_SIGNALS_H_

#include <atomic>
#include <functional>
#include <thread>

namespace normd {

class StopSignals {
 public:
  // Keeps the signals from every thread that is started afterwards. First thing in main: a library
  // that starts threads earlier would take them.
  static void Block();

  // Calls `on_signal` with the number of each signal, on a thread of its own.
  // REQUIRES: Block was called before any thread was started
  explicit StopSignals(std::function<void(int number)> on_signal);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  void Wait();

  const std::function<void(int)> on_signal_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace normd

#endif  // NORMD_SERVER_STOP_SIGNALS_H_
