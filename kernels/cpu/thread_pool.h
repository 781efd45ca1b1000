// ThreadPool: threads that share the units of a loop. The units of a launch are made so that their
// results do not depend on which thread runs them, so any thread takes the next one.
#ifndef NORMD_KERNELS_CPU_THREAD_POOL_H_
#define NORMD_KERNELS_CPU_THREAD_POOL_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "kernels/cpu/scratch.h"
#include "kernels/mutex.h"

namespace normd {

// Thread-safe. Several loops may run at once; idle threads help the oldest.
class ThreadPool {
 public:
  // Runs one unit with working memory that no other unit uses at that time.
  using UnitFunction = absl::FunctionRef<void(int64_t unit, Scratch& scratch)>;

  // `helpers` threads beside those that call ParallelFor; 0 or more.
  explicit ThreadPool(int helpers);
  // REQUIRES: no ParallelFor is running.
  ~ThreadPool();

  // Runs `run` for 0 to units - 1 on the calling thread, with `scratch`, and on idle helpers.
  // Returns when all units are done.
  void ParallelFor(int64_t units, Scratch& scratch, UnitFunction run) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Lives on the stack of ParallelFor.
  struct Loop {
    const int64_t units;
    const UnitFunction run;
    std::atomic<int64_t> next = 0;
    int helping = 0;  // helpers inside; guarded by mutex_

    void RunUnits(Scratch& scratch);
  };

  void HelperMain() ABSL_LOCKS_EXCLUDED(mutex_);

  Mutex mutex_;
  CondVar work_;  // loops_ or stopping_ changed
  CondVar left_;  // a helper left a loop
  std::deque<Loop*> loops_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> helpers_;
};

}  // namespace normd

#endif  // NORMD_KERNELS_CPU_THREAD_POOL_H_
