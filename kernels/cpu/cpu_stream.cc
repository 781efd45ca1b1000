#include "kernels/cpu/cpu_stream.h"

#include <cstring>
#include <memory>
#include <utility>

#include "kernels/cpu/cpu_event.h"

namespace normd {

CpuStream::CpuStream(ThreadPool& pool) : pool_(pool), thread_([this] { Main(); }) {}

CpuStream::~CpuStream() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    work_.SignalOne();
  }
  thread_.join();
}

absl::Status CpuStream::Copy(void* destination, const void* source, int64_t bytes) {
  if (bytes < 0) return absl::InvalidArgumentError("a copy has a negative number of bytes");
  if (bytes == 0) return absl::OkStatus();
  Enqueue(
      [=](ThreadPool&, Scratch&) { std::memcpy(destination, source, static_cast<size_t>(bytes)); });
  return absl::OkStatus();
}

absl::Status CpuStream::Fill(void* destination, std::byte value, int64_t bytes) {
  if (bytes < 0) return absl::InvalidArgumentError("a fill has a negative number of bytes");
  if (bytes == 0) return absl::OkStatus();
  Enqueue([=](ThreadPool&, Scratch&) {
    std::memset(destination, std::to_integer<int>(value), static_cast<size_t>(bytes));
  });
  return absl::OkStatus();
}

absl::Status CpuStream::Record(Event& event) {
  Enqueue([point = static_cast<CpuEvent&>(event).NewPoint()](ThreadPool&, Scratch&) {
    point->Complete();
  });
  return absl::OkStatus();
}

absl::Status CpuStream::Wait(Event& event) {
  std::shared_ptr<RecordedPoint> point = static_cast<CpuEvent&>(event).point();
  if (point == nullptr || point->completed()) return absl::OkStatus();
  Enqueue([point = std::move(point)](ThreadPool&, Scratch&) { point->Wait(); });
  return absl::OkStatus();
}

absl::Status CpuStream::Synchronize() {
  CpuEvent event(/*timed=*/false);
  if (absl::Status status = Record(event); !status.ok()) return status;
  return event.Synchronize();
}

void CpuStream::Enqueue(Task task) {
  const MutexLock lock(mutex_);
  while (tasks_.size() >= kMaxQueuedTasks) room_.Wait(mutex_);
  tasks_.push_back(std::move(task));
  work_.SignalOne();
}

void CpuStream::Main() {
  const auto scratch = std::make_unique<Scratch>();
  for (;;) {
    Task task;
    {
      const MutexLock lock(mutex_);
      while (tasks_.empty() && !stopping_) work_.Wait(mutex_);
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      room_.SignalOne();
    }
    task(pool_, *scratch);
  }
}

}  // namespace normd
