// The rest of the seam: memory, copies, streams, events.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "tests/conformance/suite.h"

namespace normd {
namespace {

std::unique_ptr<Stream> MakeStream() {
  auto stream = BackendUnderTest().NewStream();
  EXPECT_TRUE(stream.ok()) << stream.status();
  return std::move(*stream);
}

std::unique_ptr<Event> MakeEvent(bool timed) {
  auto event = BackendUnderTest().NewEvent(timed);
  EXPECT_TRUE(event.ok()) << event.status();
  return std::move(*event);
}

Memory Allocate(int64_t bytes, MemoryKind kind) {
  auto memory = BackendUnderTest().Allocate(bytes, kind);
  EXPECT_TRUE(memory.ok()) << memory.status();
  return std::move(*memory);
}

TEST(ConformanceSeam, InfoIsFilled) {
  const DeviceInfo& info = BackendUnderTest().info();
  EXPECT_FALSE(info.name.empty());
  EXPECT_FALSE(info.model.empty());
  EXPECT_GT(info.memory_bytes, 0);
  EXPECT_GE(info.max_segments, 64);
}

TEST(ConformanceSeam, MemoryIsAlignedAndFreedBlocksCanBeHadAgain) {
  for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kStaging}) {
    for (const int64_t bytes : {1, 255, 256, 4097, 1 << 20}) {
      const Memory memory = Allocate(bytes, kind);
      ASSERT_NE(memory.data(), nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % 256, 0U) << bytes;
      EXPECT_EQ(memory.bytes(), bytes);
    }
    for (int i = 0; i < 200; ++i) Allocate(64 << 20, kind);
  }
}

TEST(ConformanceSeam, MoreMemoryThanThereIsIsRefusedAndLessIsStillGiven) {
  for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kStaging}) {
    const auto huge = BackendUnderTest().Allocate(std::numeric_limits<int64_t>::max() / 2, kind);
    EXPECT_EQ(huge.status().code(), absl::StatusCode::kResourceExhausted) << huge.status();
    EXPECT_NE(Allocate(4096, kind).data(), nullptr);
  }
}

TEST(ConformanceSeam, CopyAndFillMoveExactlyTheirBytes) {
  constexpr int64_t kBytes = 100003;
  const Memory from = Allocate(kBytes, MemoryKind::kStaging);
  const Memory device = Allocate(kBytes + 2, MemoryKind::kDevice);
  const Memory to = Allocate(kBytes + 2, MemoryKind::kStaging);
  const std::unique_ptr<Stream> stream = MakeStream();
  auto* source = static_cast<unsigned char*>(from.data());
  for (int64_t i = 0; i < kBytes; ++i) source[i] = static_cast<unsigned char>(i * 7 + i / 251);
  char* target = static_cast<char*>(device.data());
  ASSERT_TRUE(stream->Fill(target, std::byte{0x5A}, kBytes + 2).ok());
  ASSERT_TRUE(stream->Copy(target + 1, source, kBytes).ok());
  ASSERT_TRUE(stream->Fill(target + 11, std::byte{0xEE}, 3).ok());
  ASSERT_TRUE(stream->Copy(to.data(), target, kBytes + 2).ok());
  ASSERT_TRUE(stream->Copy(to.data(), target, 0).ok());
  ASSERT_TRUE(stream->Synchronize().ok());
  const auto* got = static_cast<const unsigned char*>(to.data());
  EXPECT_EQ(got[0], 0x5A);
  EXPECT_EQ(got[kBytes + 1], 0x5A);
  for (int64_t i = 0; i < kBytes; ++i) {
    const bool filled = i >= 10 && i < 13;
    ASSERT_EQ(got[i + 1], filled ? 0xEE : source[i]) << i;
  }
}

TEST(ConformanceSeam, EventsFollowTheirStream) {
  const std::unique_ptr<Event> event = MakeEvent(false);
  EXPECT_TRUE(event->Query().value());
  EXPECT_TRUE(event->Synchronize().ok());
  const Memory memory = Allocate(16 << 20, MemoryKind::kDevice);
  const std::unique_ptr<Stream> stream = MakeStream();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(stream->Fill(memory.data(), std::byte{1}, memory.bytes()).ok());
    ASSERT_TRUE(stream->Record(*event).ok());
  }
  EXPECT_TRUE(event->Synchronize().ok());
  EXPECT_TRUE(event->Query().value());
  EXPECT_TRUE(stream->Synchronize().ok());
}

// Work on a second stream that waits for the first sees what the first wrote.
TEST(ConformanceSeam, WaitOrdersStreams) {
  constexpr int64_t kBytes = 8 << 20;
  const Memory device = Allocate(kBytes, MemoryKind::kDevice);
  const Memory host = Allocate(kBytes, MemoryKind::kStaging);
  const std::unique_ptr<Stream> first = MakeStream();
  const std::unique_ptr<Stream> second = MakeStream();
  const std::unique_ptr<Event> written = MakeEvent(false);
  const std::unique_ptr<Event> read = MakeEvent(false);
  for (int round = 1; round <= 20; ++round) {
    ASSERT_TRUE(first->Wait(*read).ok());
    ASSERT_TRUE(first->Fill(device.data(), static_cast<std::byte>(round), kBytes).ok());
    ASSERT_TRUE(first->Record(*written).ok());
    ASSERT_TRUE(second->Wait(*written).ok());
    ASSERT_TRUE(second->Copy(host.data(), device.data(), kBytes).ok());
    ASSERT_TRUE(second->Record(*read).ok());
    ASSERT_TRUE(second->Synchronize().ok());
    const auto* bytes = static_cast<const unsigned char*>(host.data());
    ASSERT_EQ(bytes[0], round);
    ASSERT_EQ(std::memcmp(bytes, bytes + 1, kBytes - 1), 0) << "round " << round;
  }
}

TEST(ConformanceSeam, ElapsedIsTheTimeBetweenTimedEvents) {
  const std::unique_ptr<Event> start = MakeEvent(true);
  const std::unique_ptr<Event> end = MakeEvent(true);
  const Memory memory = Allocate(64 << 20, MemoryKind::kDevice);
  const std::unique_ptr<Stream> stream = MakeStream();
  ASSERT_TRUE(stream->Record(*start).ok());
  ASSERT_TRUE(stream->Fill(memory.data(), std::byte{1}, memory.bytes()).ok());
  ASSERT_TRUE(stream->Record(*end).ok());
  ASSERT_TRUE(end->Synchronize().ok());
  const auto elapsed = BackendUnderTest().Elapsed(*start, *end);
  ASSERT_TRUE(elapsed.ok()) << elapsed.status();
  EXPECT_GT(*elapsed, absl::ZeroDuration());
  EXPECT_LT(*elapsed, absl::Seconds(60));
}

TEST(ConformanceSeam, LaunchInfoNamesTheKernel) {
  NormSpec spec;
  spec.width = spec.group = 64;
  spec.want_y = true;
  PlacedSegment segment;
  segment.operands.rows = 3;
  segment.operands.eps = 1e-5F;
  segment.operands.x.assign(3 * 64, 1.0);
  const auto outcome = SharedLauncher().Run(spec, {segment}, MemoryKind::kDevice);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_STRNE(outcome->info.kernel, "");
  EXPECT_GE(outcome->info.launches, 1);
}

}  // namespace
}  // namespace normd
