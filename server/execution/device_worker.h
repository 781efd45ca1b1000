// DeviceWorker: runs jobs on one device through the Backend seam, one request a launch.
//
// A thread a stream takes jobs from the bounded inbox, launches, waits for the event and hands the
// result back; one more thread answers queued jobs at their deadline. Threads and memory are made
// by Create. A device that reports an error of its own is lost for good: jobs fail from then on.
//
// Thread-safe, except Shutdown.
#ifndef NORMD_SERVER_EXECUTION_DEVICE_WORKER_H_
#define NORMD_SERVER_EXECUTION_DEVICE_WORKER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/backend.h"
#include "server/batching/clock.h"
#include "server/batching/inbox.h"
#include "server/batching/job.h"
#include "server/execution/staging_arena.h"
#include "server/telemetry/telemetry.h"

namespace normd {

struct DeviceWorkerOptions {
  // Memory for the operands and results of all requests in flight. 256 B and more; 1 GiB holds the
  // largest default message and its results twice.
  int64_t staging_bytes = int64_t{1} << 30;
  // Jobs that may wait; 1 and more. More are refused with a retry delay.
  int64_t max_queue_requests = 4096;
  // Launches that may run at once, each with a thread of its own; 1 to 16. Two hide the host's part
  // of a launch behind the device's.
  int streams = 1;
  // Called once, on a thread of the worker, when the device is lost. Must not call the worker.
  std::function<void()> on_lost;
  // Null: the steady clock.
  Clock* clock = nullptr;
};

class DeviceWorker {
 public:
  // The backend and the telemetry outlive the worker.
  static absl::StatusOr<std::unique_ptr<DeviceWorker>> Create(const DeviceWorkerOptions& options,
                                                              Backend& backend,
                                                              Telemetry& telemetry);
  ~DeviceWorker();  // shuts down
  DeviceWorker(const DeviceWorker&) = delete;
  DeviceWorker& operator=(const DeviceWorker&) = delete;

  // Takes the job and calls its `done` once, perhaps before it returns: OK; DEADLINE_EXCEEDED, at
  // that moment and without a launch; what Cancel says; RESOURCE_EXHAUSTED with a retry delay;
  // UNAVAILABLE, shut down or device lost; INTERNAL, the launch failed (details in the log).
  // REQUIRES: the kernels' Validate accepts the spec and the segment; its memory is of staging()
  void Submit(std::unique_ptr<Job> job);

  // Ends the job with this id with `why` if it still waits. One that was launched completes.
  void Cancel(uint64_t id, absl::Status why);

  // Refuses new jobs, fails those that wait, completes those launched, ends the threads.
  void Shutdown();

  StagingArena& staging() { return *staging_; }
  Clock& clock() { return clock_; }
  const DeviceInfo& info() const { return backend_.info(); }
  bool lost() const { return lost_.load(); }

 private:
  // What one thread launches with.
  struct Lane {
    std::unique_ptr<Stream> stream;
    std::unique_ptr<Event> start;
    std::unique_ptr<Event> end;
  };

  DeviceWorker(const DeviceWorkerOptions& options, Backend& backend, Telemetry& telemetry);
  absl::Status AddLanes(int count);
  void StartThreads();

  void ServeLane(Lane& lane);
  void WatchDeadlines();
  void Run(Lane& lane, Job& job);
  absl::Status Launch(Lane& lane, Job& job, JobResult& result);
  absl::Status Await(Lane& lane, JobResult& result);
  void Latch();

  // Takes a job out of the gauge of waiting ones.
  void Left(const Job& job);
  // Ends a job that was not launched.
  void Refuse(Job& job, absl::Status status);

  Backend& backend_;
  Telemetry& telemetry_;
  Clock& clock_;
  const std::function<void()> on_lost_;
  std::unique_ptr<StagingArena> staging_;
  Inbox inbox_;
  std::vector<Lane> lanes_;
  std::atomic<bool> lost_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace normd

#endif  // NORMD_SERVER_EXECUTION_DEVICE_WORKER_H_
