#include "server/telemetry/histogram.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace normd {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kBounds[] = {10, 20, 40};

TEST(Histogram, IsEmptyAtFirst) {
  const Histogram::Snapshot snapshot = Histogram(kBounds).Read();
  EXPECT_THAT(snapshot.counts, ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(snapshot.count, 0);
  EXPECT_EQ(snapshot.sum, 0);
}

TEST(Histogram, BoundsAreInclusiveAndTheLastBucketTakesTheRest) {
  Histogram histogram(kBounds);
  for (const int64_t value : {0, 10, 11, 20, 21, 40, 41, 1'000'000}) histogram.Observe(value);
  const Histogram::Snapshot snapshot = histogram.Read();
  EXPECT_THAT(snapshot.counts, ElementsAre(2, 2, 2, 2));
  EXPECT_EQ(snapshot.count, 8);
  EXPECT_EQ(snapshot.sum, 1'000'143);
}

TEST(Histogram, IsExactAfterManyThreads) {
  constexpr int kThreads = 12;  // more than shards
  constexpr int kValues = 20'000;
  Histogram histogram(kBounds);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kValues; ++i) histogram.Observe(i % 50);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Histogram::Snapshot snapshot = histogram.Read();
  // Of 0 to 49: 11 up to 10, 10 up to 20, 20 up to 40, 9 above.
  constexpr int64_t kRounds = int64_t{kThreads} * kValues / 50;
  EXPECT_THAT(snapshot.counts, ElementsAre(11 * kRounds, 10 * kRounds, 20 * kRounds, 9 * kRounds));
  EXPECT_EQ(snapshot.sum, kRounds * (49 * 50 / 2));
}

TEST(Histogram, DurationBoundsRiseFromAMicrosecondToTenSeconds) {
  const absl::Span<const int64_t> bounds = DurationBounds();
  EXPECT_EQ(bounds.front(), 1'000);
  EXPECT_EQ(bounds.back(), 10'000'000'000);
  EXPECT_EQ(std::adjacent_find(bounds.begin(), bounds.end(), std::greater_equal<>()), bounds.end());
  // Fine where kernels are: at most a factor of 1.27 from 2 us to 500 us.
  for (size_t i = 1; i < bounds.size(); ++i) {
    if (bounds[i - 1] < 2'000 || bounds[i] > 500'000) continue;
    EXPECT_LE(static_cast<double>(bounds[i]) / static_cast<double>(bounds[i - 1]), 1.29)
        << bounds[i];
  }
}

TEST(Histogram, BatchBoundsRise) {
  for (const auto bounds : {RequestBounds(), RowBounds()}) {
    EXPECT_EQ(bounds.front(), 1);
    EXPECT_EQ(std::adjacent_find(bounds.begin(), bounds.end(), std::greater_equal<>()),
              bounds.end());
  }
}

}  // namespace
}  // namespace normd
