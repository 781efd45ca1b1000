#include "kernels/cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace normd {
namespace {

// How often each unit ran.
std::vector<int> RunCounts(ThreadPool& pool, int64_t units) {
  std::vector<std::atomic<int>> counts(static_cast<size_t>(units));
  const auto scratch = std::make_unique<Scratch>();
  pool.ParallelFor(units, *scratch,
                   [&](int64_t unit, Scratch&) { ++counts[static_cast<size_t>(unit)]; });
  return {counts.begin(), counts.end()};
}

TEST(ThreadPoolTest, RunsEveryUnitOnce) {
  for (const int helpers : {0, 1, 7}) {
    ThreadPool pool(helpers);
    for (const int64_t units : {0, 1, 2, 1000}) {
      EXPECT_EQ(RunCounts(pool, units), std::vector<int>(static_cast<size_t>(units), 1))
          << helpers << " helpers";
    }
  }
}

TEST(ThreadPoolTest, SeveralLoopsShareTheHelpers) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int> right = 0;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        if (RunCounts(pool, 64) == std::vector<int>(64, 1)) ++right;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(right, 4 * 50);
}

TEST(ThreadPoolTest, HelpersTakePart) {
  ThreadPool pool(1);
  const auto scratch = std::make_unique<Scratch>();
  // Neither unit ends before both have begun, so two threads must have taken them.
  std::atomic<int> begun = 0;
  pool.ParallelFor(2, *scratch, [&](int64_t, Scratch&) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  EXPECT_EQ(begun, 2);
}

TEST(ThreadPoolTest, UnitsThatRunTogetherHaveTheirOwnScratch) {
  ThreadPool pool(1);
  const auto scratch = std::make_unique<Scratch>();
  Scratch* used[2] = {};
  std::atomic<int> begun = 0;
  pool.ParallelFor(2, *scratch, [&](int64_t unit, Scratch& s) {
    used[unit] = &s;
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  EXPECT_NE(used[0], used[1]);
}

}  // namespace
}  // namespace normd
