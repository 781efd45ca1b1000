#include "server/batching/clock.h"

#include <chrono>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"

namespace normd {
namespace {

class SteadyClock final : public Clock {
 public:
  absl::Time Now() override {
    return absl::UnixEpoch() +
           absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
  }

  void WaitUntil(CondVar& condition, Mutex& mutex, absl::Time time) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    // A wait of a day stands for all longer ones: the standard library's arithmetic overflows.
    const absl::Duration wait = time - Now();
    if (wait > absl::Hours(24)) {
      condition.WaitUntil(mutex, std::chrono::steady_clock::now() + std::chrono::hours(24));
    } else if (wait > absl::ZeroDuration()) {
      condition.WaitUntil(mutex,
                          std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(wait));
    }
  }
};

}  // namespace

Clock& Clock::Real() {
  static SteadyClock clock;
  return clock;
}

}  // namespace normd
