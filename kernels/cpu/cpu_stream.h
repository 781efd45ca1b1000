// CpuStream: work of the CPU backend, in order, on a thread of its own.
#ifndef NORMD_KERNELS_CPU_CPU_STREAM_H_
#define NORMD_KERNELS_CPU_CPU_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "kernels/backend.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/mutex.h"

namespace normd {

// A call that finds kMaxQueuedTasks tasks ahead of it waits until there is room.
class CpuStream : public Stream {
 public:
  static constexpr size_t kMaxQueuedTasks = 4096;
  // Runs on the stream's thread, whose scratch it may use until it returns.
  using Task = absl::AnyInvocable<void(ThreadPool& pool, Scratch& scratch)>;

  // `pool` must outlive the stream.
  explicit CpuStream(ThreadPool& pool);
  ~CpuStream() override;

  absl::Status Copy(void* destination, const void* source, int64_t bytes) override;
  absl::Status Fill(void* destination, std::byte value, int64_t bytes) override;
  absl::Status Record(Event& event) override;
  absl::Status Wait(Event& event) override;
  absl::Status Synchronize() override;

  void Enqueue(Task task) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Main() ABSL_LOCKS_EXCLUDED(mutex_);

  ThreadPool& pool_;
  Mutex mutex_;
  CondVar work_;  // tasks_ grew, or stopping_
  CondVar room_;  // tasks_ shrank
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace normd

#endif  // NORMD_KERNELS_CPU_CPU_STREAM_H_
