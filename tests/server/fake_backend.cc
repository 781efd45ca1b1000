#include "tests/server/fake_backend.h"

#include <cstdlib>
#include <cstring>

namespace normd {

class FakeBackend::FakeEvent final : public Event {
 public:
  explicit FakeEvent(FakeBackend& backend) : backend_(backend) {}
  absl::StatusOr<bool> Query() override {
    MutexLock lock(backend_.mutex_);
    return !backend_.held_;
  }
  absl::Status Synchronize() override { return backend_.Wait(); }

 private:
  FakeBackend& backend_;
};

class FakeBackend::FakeStream final : public Stream {
 public:
  explicit FakeStream(FakeBackend& backend) : backend_(backend) {}
  absl::Status Copy(void* destination, const void* source, int64_t bytes) override {
    std::memcpy(destination, source, static_cast<size_t>(bytes));
    return absl::OkStatus();
  }
  absl::Status Fill(void* destination, std::byte value, int64_t bytes) override {
    std::memset(destination, static_cast<int>(value), static_cast<size_t>(bytes));
    return absl::OkStatus();
  }
  absl::Status Record(Event& /*event*/) override { return absl::OkStatus(); }
  absl::Status Wait(Event& /*event*/) override { return absl::OkStatus(); }
  absl::Status Synchronize() override { return backend_.Wait(); }

 private:
  FakeBackend& backend_;
};

void FakeBackend::Hold() {
  MutexLock lock(mutex_);
  held_ = true;
}

void FakeBackend::Release() {
  MutexLock lock(mutex_);
  held_ = false;
  changed_.SignalAll();
}

void FakeBackend::FailNextLaunch() {
  MutexLock lock(mutex_);
  fail_next_ = true;
}

void FakeBackend::Lose() {
  MutexLock lock(mutex_);
  lost_ = true;
}

int FakeBackend::launches() {
  MutexLock lock(mutex_);
  return launches_;
}

void FakeBackend::WaitForLaunches(int count) {
  MutexLock lock(mutex_);
  while (launches_ < count) changed_.Wait(mutex_);
}

absl::Status FakeBackend::Wait() {
  MutexLock lock(mutex_);
  while (held_) changed_.Wait(mutex_);
  return lost_ ? absl::InternalError("secret: error 700 at 0xdeadbeef") : absl::OkStatus();
}

absl::StatusOr<Memory> FakeBackend::Allocate(int64_t bytes, MemoryKind /*kind*/) {
  void* data = std::aligned_alloc(256, static_cast<size_t>((bytes + 255) / 256 * 256));
  if (data == nullptr) return absl::ResourceExhaustedError("no memory");
  return Memory(data, bytes, [](void* block, int64_t) { std::free(block); });
}

absl::StatusOr<std::unique_ptr<Stream>> FakeBackend::NewStream() {
  return std::make_unique<FakeStream>(*this);
}

absl::StatusOr<std::unique_ptr<Event>> FakeBackend::NewEvent(bool /*timed*/) {
  return std::make_unique<FakeEvent>(*this);
}

absl::StatusOr<absl::Duration> FakeBackend::Elapsed(Event& /*start*/, Event& /*end*/) {
  return kKernelTime;
}

absl::StatusOr<LaunchInfo> FakeBackend::Launch() {
  MutexLock lock(mutex_);
  ++launches_;
  changed_.SignalAll();
  if (fail_next_) {
    fail_next_ = false;
    return absl::InternalError("secret: no kernel at 0xdeadbeef");
  }
  return LaunchInfo{"fake_kernel", 1};
}

absl::StatusOr<LaunchInfo> FakeBackend::Forward(const NormSpec& spec,
                                                absl::Span<const Segment> segments,
                                                Stream& /*stream*/) {
  for (const Segment& segment : segments) {
    if (segment.rows == 0) continue;
    const auto rows = static_cast<size_t>(segment.rows);
    const size_t bytes = rows * static_cast<size_t>(spec.width * SizeOf(spec.dtype));
    const size_t statistic_bytes = rows * static_cast<size_t>(spec.groups()) * sizeof(float);
    if (spec.want_y) std::memcpy(segment.y.data, segment.x.data, bytes);
    if (spec.want_residual_out) std::memset(segment.residual_out.data, 0, bytes);
    if (spec.want_mean) std::memset(segment.mean_out, 0, statistic_bytes);
    if (spec.want_rstd) std::memset(segment.rstd_out, 0, statistic_bytes);
  }
  return Launch();
}

absl::StatusOr<LaunchInfo> FakeBackend::Backward(const NormSpec& /*spec*/,
                                                 absl::Span<const Segment> /*segments*/,
                                                 Stream& /*stream*/) {
  return absl::UnimplementedError("the fake runs forward only");
}

}  // namespace normd
