// Streams and events of the CPU backend, through the seam. A gate is a task that holds a stream
// until the test opens it, so that no test sleeps.
#include "kernels/cpu/cpu_stream.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <future>
#include <memory>
#include <vector>

#include "kernels/cpu/cpu_backend.h"

namespace normd {
namespace {

class CpuStreamTest : public testing::Test {
 protected:
  std::unique_ptr<CpuStream> NewStream() { return std::make_unique<CpuStream>(pool_); }
  std::unique_ptr<Event> NewEvent(bool timed = false) { return *backend_->NewEvent(timed); }
  bool Completed(Event& event) { return *event.Query(); }

  // Holds `stream` until the promise is set.
  std::promise<void> Close(CpuStream& stream) {
    std::promise<void> gate;
    stream.Enqueue([opened = gate.get_future().share()](ThreadPool&, Scratch&) { opened.wait(); });
    return gate;
  }

  std::unique_ptr<Backend> backend_ = *NewCpuBackend({.threads = 1});
  ThreadPool pool_{0};
};

TEST_F(CpuStreamTest, RunsWorkInOrder) {
  const auto stream = NewStream();
  std::vector<int> order;
  for (int i = 0; i < 1000; ++i) {
    stream->Enqueue([&order, i](ThreadPool&, Scratch&) { order.push_back(i); });
  }
  ASSERT_TRUE(stream->Synchronize().ok());
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST_F(CpuStreamTest, CopiesAndFills) {
  const auto stream = NewStream();
  std::vector<std::byte> a(1000, std::byte{1});
  std::vector<std::byte> b(1000, std::byte{2});
  ASSERT_TRUE(stream->Fill(a.data(), std::byte{3}, 500).ok());
  ASSERT_TRUE(stream->Copy(b.data(), a.data(), 900).ok());
  ASSERT_TRUE(stream->Synchronize().ok());
  EXPECT_EQ(b[499], std::byte{3});
  EXPECT_EQ(b[500], std::byte{1});
  EXPECT_EQ(b[900], std::byte{2});
}

TEST_F(CpuStreamTest, NothingToMoveIsNoError) {
  const auto stream = NewStream();
  EXPECT_TRUE(stream->Copy(nullptr, nullptr, 0).ok());
  EXPECT_TRUE(stream->Fill(nullptr, std::byte{0}, 0).ok());
  EXPECT_TRUE(stream->Synchronize().ok());
}

TEST_F(CpuStreamTest, NegativeSizesAreRefused) {
  const auto stream = NewStream();
  std::byte byte{};
  EXPECT_EQ(stream->Copy(&byte, &byte, -1).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(stream->Fill(&byte, std::byte{0}, -1).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(CpuStreamTest, CallsReturnBeforeTheWorkRuns) {
  const auto stream = NewStream();
  std::promise<void> gate = Close(*stream);
  std::byte byte{};
  ASSERT_TRUE(stream->Fill(&byte, std::byte{9}, 1).ok());
  EXPECT_EQ(byte, std::byte{0});
  gate.set_value();
  ASSERT_TRUE(stream->Synchronize().ok());
  EXPECT_EQ(byte, std::byte{9});
}

TEST_F(CpuStreamTest, AnEventIsCompleteBeforeItsFirstRecord) {
  const auto event = NewEvent();
  EXPECT_TRUE(Completed(*event));
  EXPECT_TRUE(event->Synchronize().ok());
  const auto stream = NewStream();
  EXPECT_TRUE(stream->Wait(*event).ok());
  EXPECT_TRUE(stream->Synchronize().ok());
}

TEST_F(CpuStreamTest, AnEventCompletesAfterTheWorkBeforeIt) {
  const auto stream = NewStream();
  const auto event = NewEvent();
  std::promise<void> gate = Close(*stream);
  ASSERT_TRUE(stream->Record(*event).ok());
  EXPECT_FALSE(Completed(*event));
  gate.set_value();
  ASSERT_TRUE(event->Synchronize().ok());
  EXPECT_TRUE(Completed(*event));
}

TEST_F(CpuStreamTest, RecordingAgainMovesTheEvent) {
  const auto stream = NewStream();
  const auto event = NewEvent();
  ASSERT_TRUE(stream->Record(*event).ok());
  ASSERT_TRUE(event->Synchronize().ok());
  std::promise<void> gate = Close(*stream);
  ASSERT_TRUE(stream->Record(*event).ok());
  EXPECT_FALSE(Completed(*event));
  gate.set_value();
  ASSERT_TRUE(event->Synchronize().ok());
}

TEST_F(CpuStreamTest, AStreamWaitsForAnEventOfAnother) {
  const auto first = NewStream();
  const auto second = NewStream();
  const auto event = NewEvent();
  std::promise<void> gate = Close(*first);
  std::byte byte{};
  ASSERT_TRUE(first->Fill(&byte, std::byte{1}, 1).ok());
  ASSERT_TRUE(first->Record(*event).ok());
  ASSERT_TRUE(second->Wait(*event).ok());
  std::byte seen{};
  ASSERT_TRUE(second->Copy(&seen, &byte, 1).ok());
  const auto copied = NewEvent();
  ASSERT_TRUE(second->Record(*copied).ok());
  EXPECT_FALSE(Completed(*copied));
  gate.set_value();
  ASSERT_TRUE(second->Synchronize().ok());
  EXPECT_EQ(seen, std::byte{1});
}

TEST_F(CpuStreamTest, AWaitMeansTheLastRecordBeforeIt) {
  const auto first = NewStream();
  const auto second = NewStream();
  const auto event = NewEvent();
  ASSERT_TRUE(first->Record(*event).ok());
  ASSERT_TRUE(second->Wait(*event).ok());
  std::promise<void> gate = Close(*first);
  ASSERT_TRUE(first->Record(*event).ok());
  EXPECT_TRUE(second->Synchronize().ok());  // though the event is not complete now
  EXPECT_FALSE(Completed(*event));
  gate.set_value();
  ASSERT_TRUE(first->Synchronize().ok());
}

TEST_F(CpuStreamTest, AnEventMayEndBeforeItsWork) {
  const auto first = NewStream();
  const auto second = NewStream();
  std::promise<void> gate = Close(*first);
  {
    const auto event = NewEvent();
    ASSERT_TRUE(first->Record(*event).ok());
    ASSERT_TRUE(second->Wait(*event).ok());
  }
  gate.set_value();
  EXPECT_TRUE(second->Synchronize().ok());
}

TEST_F(CpuStreamTest, TheEndOfAStreamWaitsForItsWork) {
  int done = 0;
  {
    const auto stream = NewStream();
    for (int i = 0; i < 100; ++i) stream->Enqueue([&](ThreadPool&, Scratch&) { ++done; });
  }
  EXPECT_EQ(done, 100);
}

TEST_F(CpuStreamTest, AFullQueueMakesTheCallerWaitAndLosesNothing) {
  const auto stream = NewStream();
  std::promise<void> gate = Close(*stream);
  int64_t done = 0;
  std::future<void> filled = std::async(std::launch::async, [&] {
    for (size_t i = 0; i < CpuStream::kMaxQueuedTasks + 100; ++i) {
      stream->Enqueue([&](ThreadPool&, Scratch&) { ++done; });
    }
  });
  gate.set_value();
  filled.wait();
  ASSERT_TRUE(stream->Synchronize().ok());
  EXPECT_EQ(done, static_cast<int64_t>(CpuStream::kMaxQueuedTasks) + 100);
}

TEST_F(CpuStreamTest, ElapsedIsTheTimeBetweenTwoEvents) {
  const auto stream = NewStream();
  const auto start = NewEvent(/*timed=*/true);
  const auto end = NewEvent(/*timed=*/true);
  ASSERT_TRUE(stream->Record(*start).ok());
  std::vector<std::byte> block(1 << 20);
  ASSERT_TRUE(stream->Fill(block.data(), std::byte{1}, 1 << 20).ok());
  ASSERT_TRUE(stream->Record(*end).ok());
  ASSERT_TRUE(stream->Synchronize().ok());
  const auto elapsed = backend_->Elapsed(*start, *end);
  ASSERT_TRUE(elapsed.ok()) << elapsed.status();
  EXPECT_GT(*elapsed, absl::ZeroDuration());
  EXPECT_LT(*elapsed, absl::Minutes(1));
}

TEST_F(CpuStreamTest, ElapsedNeedsTimedEventsThatHaveCompleted) {
  const auto stream = NewStream();
  const auto timed = NewEvent(/*timed=*/true);
  const auto plain = NewEvent(/*timed=*/false);
  EXPECT_FALSE(backend_->Elapsed(*timed, *timed).ok());
  ASSERT_TRUE(stream->Record(*timed).ok());
  ASSERT_TRUE(stream->Record(*plain).ok());
  ASSERT_TRUE(stream->Synchronize().ok());
  EXPECT_TRUE(backend_->Elapsed(*timed, *timed).ok());
  EXPECT_FALSE(backend_->Elapsed(*timed, *plain).ok());
  EXPECT_FALSE(backend_->Elapsed(*plain, *timed).ok());
}

TEST(CpuBackendTest, SaysWhatItIs) {
  const auto backend = NewCpuBackend({});
  ASSERT_TRUE(backend.ok()) << backend.status();
  EXPECT_EQ((*backend)->info().name, "cpu");
  EXPECT_FALSE((*backend)->info().model.empty());
  EXPECT_GT((*backend)->info().memory_bytes, 0);
  EXPECT_GE((*backend)->info().max_segments, 64);
}

TEST(CpuBackendTest, RefusesImpossibleNumbersOfThreads) {
  for (const int threads : {-1, 257}) {
    EXPECT_EQ(NewCpuBackend({.threads = threads}).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(NewCpuBackend({.threads = 256}).ok());
}

}  // namespace
}  // namespace normd
