#include "client/cpp/loan.h"

#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace normd {
namespace {

TEST(Loan, EndsWhenEverySliceIsBack) {
  const std::vector<std::byte> memory(64);
  std::optional<Loan> loan(std::in_place);
  std::optional<grpc::Slice> first(loan->Lend(memory));
  std::optional<grpc::Slice> copy(*first);
  std::atomic<bool> back = false;
  std::atomic<bool> first_gone = false;
  // gRPC returns slices on threads of its own, some after the call.
  std::thread other([&] {
    first.reset();
    first_gone = true;
    while (!back) std::this_thread::yield();
    copy.reset();
  });
  while (!first_gone) std::this_thread::yield();
  std::atomic<bool> ended = false;
  std::thread waiter([&] {
    loan.reset();
    ended = true;
  });
  EXPECT_FALSE(ended) << "a copy of the slice is still out";
  back = true;
  other.join();
  waiter.join();
  EXPECT_TRUE(ended);
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
