// A backend is thread-safe: threads with streams of their own get the bits that one thread gets.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/conformance/batch_check.h"
#include "tests/conformance/checker.h"
#include "tests/conformance/suite.h"

namespace normd {
namespace {

TEST(ConformanceThreads, StreamsOfSeveralThreadsDoNotDisturbEachOther) {
  constexpr int kThreads = 4;
  const int rounds = Options().reduced ? 2 : 6;
  std::vector<std::vector<std::string>> faults(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([t, rounds, &found = faults[static_cast<size_t>(t)]] {
        Launcher launcher(BackendUnderTest());
        for (int round = 0; round < rounds && found.empty(); ++round) {
          found = BatchFaults(launcher, static_cast<uint64_t>(1000 + t * 100 + round), 10);
        }
      });
    }
  }
  for (const auto& found : faults) EXPECT_TRUE(found.empty()) << Lines(found);
}

}  // namespace
}  // namespace normd
