#include "server/execution/device_worker.h"

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/batching/retry.h"
#include "tests/server/fake_backend.h"
#include "tests/server/manual_clock.h"
#include "tests/server/outcome.h"

namespace normd {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class DeviceWorkerTest : public testing::Test {
 protected:
  DeviceWorkerTest() {
    options_.staging_bytes = 1 << 16;
    options_.max_queue_requests = 4;
    options_.clock = &clock_;
    options_.on_lost = [this] { ++lost_; };
    worker_ = *DeviceWorker::Create(options_, backend_, telemetry_);
  }

  std::unique_ptr<Job> NewJob(uint64_t id, Outcome& outcome,
                              absl::Duration timeout = absl::InfiniteDuration()) {
    auto job = std::make_unique<Job>();
    job->id = id;
    job->spec.width = job->spec.group = 4;
    job->spec.want_y = true;
    job->segment.rows = 2;
    job->segment.x = {x_.data(), 4};
    job->segment.y = {y_.data(), 4};
    job->deadline = clock_.Now() + timeout;
    job->done = outcome.done();
    return job;
  }

  void Submit(uint64_t id, Outcome& outcome, absl::Duration timeout = absl::InfiniteDuration()) {
    worker_->Submit(NewJob(id, outcome, timeout));
  }

  // Launches a job that stays on the device until Release.
  void Occupy(Outcome& outcome) {
    backend_.Hold();
    Submit(1, outcome);
    backend_.WaitForLaunches(1);
  }

  ManualClock clock_;
  FakeBackend backend_;
  Telemetry telemetry_{TelemetryOptions{}};
  DeviceWorkerOptions options_;
  std::atomic<int> lost_ = 0;
  std::array<float, 8> x_{};
  std::array<float, 8> y_{};
  std::unique_ptr<DeviceWorker> worker_;
};

TEST_F(DeviceWorkerTest, RefusesOptionsOutOfRange) {
  options_.streams = 0;
  EXPECT_FALSE(DeviceWorker::Create(options_, backend_, telemetry_).ok());
  options_.streams = 17;
  EXPECT_FALSE(DeviceWorker::Create(options_, backend_, telemetry_).ok());
  options_.streams = 1;
  options_.max_queue_requests = 0;
  EXPECT_FALSE(DeviceWorker::Create(options_, backend_, telemetry_).ok());
}

TEST_F(DeviceWorkerTest, RunsAJobAndSaysHow) {
  x_.fill(3);
  Outcome outcome;
  Submit(1, outcome);
  const JobResult result = outcome.Wait();
  EXPECT_TRUE(result.status.ok());
  EXPECT_EQ(y_, x_);
  EXPECT_EQ(result.kernel, FakeBackend::kKernelTime);
  EXPECT_EQ(result.batch_rows, 2);
  EXPECT_EQ(result.batch_requests, 1);
  EXPECT_STREQ(result.kernel_name, "fake_kernel");
}

TEST_F(DeviceWorkerTest, AnswersADeadlineThatPassedBeforeAtOnce) {
  Outcome outcome;
  Submit(1, outcome, -absl::Nanoseconds(1));
  EXPECT_EQ(outcome.times(), 1);  // inside Submit
  EXPECT_EQ(outcome.Wait().status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(backend_.launches(), 0);
}

TEST_F(DeviceWorkerTest, AnswersADeadlineWhileTheDeviceIsBusy) {
  Outcome running, waiting, patient;
  Occupy(running);
  Submit(2, waiting, absl::Seconds(1));
  Submit(3, patient, absl::Seconds(9));
  clock_.Advance(absl::Seconds(2));
  const JobResult result = waiting.Wait();  // the device is still held
  EXPECT_EQ(result.status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(result.queue, absl::Seconds(2));
  EXPECT_FALSE(result.launched);
  EXPECT_EQ(patient.times(), 0);
  backend_.Release();
  EXPECT_TRUE(running.Wait().status.ok());
  EXPECT_TRUE(patient.Wait().status.ok());
  EXPECT_EQ(backend_.launches(), 2);
}

TEST_F(DeviceWorkerTest, AnEarlierDeadlineThanTheOneWatchedIsSeen) {
  Outcome running, late, early;
  Occupy(running);
  Submit(2, late, absl::Seconds(100));
  Submit(3, early, absl::Seconds(1));
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(early.Wait().status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(late.times(), 0);
  backend_.Release();
  EXPECT_TRUE(late.Wait().status.ok());
}

TEST_F(DeviceWorkerTest, CancelsAJobThatWaits) {
  Outcome running, waiting;
  Occupy(running);
  Submit(2, waiting);
  worker_->Cancel(2, absl::CancelledError("gone"));
  EXPECT_EQ(waiting.times(), 1);  // inside Cancel
  EXPECT_EQ(waiting.Wait().status.code(), absl::StatusCode::kCancelled);
  backend_.Release();
  EXPECT_TRUE(running.Wait().status.ok());
  EXPECT_EQ(backend_.launches(), 1);
}

TEST_F(DeviceWorkerTest, AJobThatWasLaunchedCompletesAllTheSame) {
  Outcome running;
  Occupy(running);
  worker_->Cancel(1, absl::CancelledError("gone"));
  EXPECT_EQ(running.times(), 0);
  backend_.Release();
  EXPECT_TRUE(running.Wait().status.ok());
  worker_->Cancel(1, absl::CancelledError("gone"));  // long gone
  EXPECT_EQ(running.times(), 1);
}

TEST_F(DeviceWorkerTest, RefusesWhatTheQueueCannotHold) {
  Outcome running;
  Occupy(running);
  std::array<Outcome, 4> waiting;
  for (size_t i = 0; i < waiting.size(); ++i) Submit(2 + i, waiting[i]);
  Outcome refused;
  Submit(9, refused);
  EXPECT_EQ(refused.times(), 1);
  EXPECT_EQ(refused.Wait().status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(RetryDelayOf(refused.Wait().status).has_value());
  backend_.Release();
  for (Outcome& outcome : waiting) EXPECT_TRUE(outcome.Wait().status.ok());
}

TEST_F(DeviceWorkerTest, ALaunchThatFailsIsTheJobsAlone) {
  backend_.FailNextLaunch();
  Outcome failed, next;
  Submit(41, failed);
  const absl::Status status = failed.Wait().status;
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("41"));
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("secret")));
  EXPECT_FALSE(worker_->lost());
  Submit(42, next);
  EXPECT_TRUE(next.Wait().status.ok());
}

TEST_F(DeviceWorkerTest, ALostDeviceIsLatched) {
  Outcome running, waiting, later;
  Occupy(running);
  Submit(2, waiting);
  backend_.Lose();
  backend_.Release();
  const absl::Status status = running.Wait().status;
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("secret")));
  EXPECT_EQ(waiting.Wait().status.code(), absl::StatusCode::kUnavailable);
  Submit(3, later);
  EXPECT_EQ(later.Wait().status.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(worker_->lost());
  EXPECT_EQ(lost_, 1);
  EXPECT_EQ(backend_.launches(), 1);
}

TEST_F(DeviceWorkerTest, ALaunchThatFailsOnALostDeviceIsNoticed) {
  backend_.FailNextLaunch();
  backend_.Lose();
  Outcome failed;
  Submit(1, failed);
  EXPECT_EQ(failed.Wait().status.code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(worker_->lost());
}

TEST_F(DeviceWorkerTest, ShutdownFailsWhatWaitsAndCompletesWhatRuns) {
  Outcome running, waiting, later;
  Occupy(running);
  Submit(2, waiting);
  std::thread shutdown([this] { worker_->Shutdown(); });
  EXPECT_EQ(waiting.Wait().status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(running.times(), 0);
  backend_.Release();
  shutdown.join();
  EXPECT_TRUE(running.Wait().status.ok());
  Submit(3, later);
  EXPECT_EQ(later.Wait().status.code(), absl::StatusCode::kUnavailable);
}

// Submissions, cancellations and deadlines from many threads: each job ends once.
TEST_F(DeviceWorkerTest, EveryJobEndsOnceWhateverHappens) {
  options_.streams = 2;
  options_.max_queue_requests = 16;
  worker_ = *DeviceWorker::Create(options_, backend_, telemetry_);
  constexpr size_t kThreads = 4, kJobs = 500;
  std::vector<Outcome> outcomes(kThreads * kJobs);
  const auto submit = [&](size_t thread) {
    for (size_t i = 0; i < kJobs; ++i) {
      const size_t index = thread * kJobs + i;
      auto job = NewJob(index + 1, outcomes[index], absl::Milliseconds(i % 5));
      job->spec.want_y = false;  // the buffers are shared
      job->spec.want_rstd = true;
      job->segment.rows = 0;
      worker_->Submit(std::move(job));
      if (i % 3 == 0) worker_->Cancel(index + 1, absl::CancelledError("gone"));
      if (i % 7 == 0) clock_.Advance(absl::Milliseconds(1));
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) threads.emplace_back(submit, i);
  for (std::thread& thread : threads) thread.join();
  worker_->Shutdown();
  for (Outcome& outcome : outcomes) EXPECT_EQ(outcome.times(), 1);
}

}  // namespace
}  // namespace normd
