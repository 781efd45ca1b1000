#include "kernels/cpu/thread_pool.h"

#include <algorithm>
#include <memory>

namespace normd {

ThreadPool::ThreadPool(int helpers) {
  helpers_.reserve(static_cast<size_t>(helpers));
  for (int i = 0; i < helpers; ++i) helpers_.emplace_back([this] { HelperMain(); });
}

ThreadPool::~ThreadPool() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    work_.SignalAll();
  }
  for (std::thread& helper : helpers_) helper.join();
}

void ThreadPool::Loop::RunUnits(Scratch& scratch) {
  for (;;) {
    const int64_t unit = next.fetch_add(1, std::memory_order_relaxed);
    if (unit >= units) return;
    run(unit, scratch);
  }
}

void ThreadPool::ParallelFor(int64_t units, Scratch& scratch, UnitFunction run) {
  Loop loop{.units = units, .run = run};
  // Waking a helper costs more than one unit takes.
  if (units <= 1 || helpers_.empty()) {
    loop.RunUnits(scratch);
    return;
  }
  {
    const MutexLock lock(mutex_);
    loops_.push_back(&loop);
    work_.SignalAll();
  }
  loop.RunUnits(scratch);
  const MutexLock lock(mutex_);
  std::erase(loops_, &loop);
  while (loop.helping > 0) left_.Wait(mutex_);
}

void ThreadPool::HelperMain() {
  const auto scratch = std::make_unique<Scratch>();
  mutex_.Lock();
  for (;;) {
    while (loops_.empty() && !stopping_) work_.Wait(mutex_);
    if (stopping_) break;
    Loop* const loop = loops_.front();
    ++loop->helping;
    mutex_.Unlock();
    loop->RunUnits(*scratch);
    mutex_.Lock();
    // All its units are taken, so nobody else need look at it.
    std::erase(loops_, loop);
    --loop->helping;
    left_.SignalAll();
  }
  mutex_.Unlock();
}

}  // namespace normd
