#include "client/cpp/loan.h"

#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace normd {
namespace {

TEST(Loan, EndsWhenEveryCopyOfTheSliceIsBack) {
  const std::vector<std::byte> memory(64);
  std::optional<Loan> loan(std::in_place);
  grpc::Slice slice = loan->Lend(memory);
  std::atomic<bool> returned = false;
  // gRPC returns slices on threads of its own, some after the call.
  std::thread other([&returned, copy = slice]() mutable {
    absl::SleepFor(absl::Milliseconds(20));
    returned = true;
    copy = grpc::Slice();
  });
  slice = grpc::Slice();
  loan.reset();
  EXPECT_TRUE(returned) << "the loan ended while a copy was out";
  other.join();
}

TEST(Loan, SurvivesManyReturnsFromManyThreads) {
  const std::vector<std::byte> memory(64);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::thread> threads;
    {
      Loan loan;
      for (int i = 0; i < 4; ++i) {
        threads.emplace_back([slice = loan.Lend(memory)]() mutable { slice = grpc::Slice(); });
      }
    }
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace normd
