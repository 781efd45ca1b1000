#include "server/execution/device_worker.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "spdlog/spdlog.h"

namespace normd {
namespace {

constexpr int kMaxStreams = 16;

absl::Status LostError() { return absl::UnavailableError("the device is lost"); }

absl::Status Expired() {
  return absl::DeadlineExceededError("the deadline passed before the request ran");
}

absl::Status GenericError(const Job& job) {
  return absl::InternalError(absl::StrCat("internal error (request ", job.id, ")"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceWorker>> DeviceWorker::Create(
    const DeviceWorkerOptions& options, Backend& backend, Telemetry& telemetry) {
  if (options.max_queue_requests < 1) {
    return absl::InvalidArgumentError("max_queue_requests is at least 1");
  }
  if (options.streams < 1 || options.streams > kMaxStreams) {
    return absl::InvalidArgumentError(absl::StrCat("streams is 1 to ", kMaxStreams));
  }
  std::unique_ptr<DeviceWorker> worker(new DeviceWorker(options, backend, telemetry));
  auto staging = StagingArena::Create(backend, options.staging_bytes);
  if (!staging.ok()) return staging.status();
  worker->staging_ = *std::move(staging);
  if (absl::Status status = worker->AddLanes(options.streams); !status.ok()) return status;
  worker->StartThreads();
  return worker;
}

DeviceWorker::DeviceWorker(const DeviceWorkerOptions& options, Backend& backend,
                           Telemetry& telemetry)
    : backend_(backend),
      telemetry_(telemetry),
      clock_(options.clock != nullptr ? *options.clock : Clock::Real()),
      on_lost_(options.on_lost),
      inbox_(clock_, options.max_queue_requests) {}

DeviceWorker::~DeviceWorker() { Shutdown(); }

absl::Status DeviceWorker::AddLanes(int count) {
  for (int i = 0; i < count; ++i) {
    auto stream = backend_.NewStream();
    if (!stream.ok()) return stream.status();
    auto start = backend_.NewEvent(/*timed=*/true);
    if (!start.ok()) return start.status();
    auto end = backend_.NewEvent(/*timed=*/true);
    if (!end.ok()) return end.status();
    lanes_.push_back({*std::move(stream), *std::move(start), *std::move(end)});
  }
  return absl::OkStatus();
}

void DeviceWorker::StartThreads() {
  for (Lane& lane : lanes_) threads_.emplace_back([this, &lane] { ServeLane(lane); });
  threads_.emplace_back([this] { WatchDeadlines(); });
}

void DeviceWorker::Submit(std::unique_ptr<Job> job) {
  job->submitted = clock_.Now();
  if (lost()) return Refuse(*job, LostError());
  if (job->deadline <= job->submitted) {
    return Refuse(*job, Expired());
  }
  // Counted before the push: the job may be taken, and counted down, before Push returns.
  telemetry_.Queued(1, job->bytes);
  if (absl::Status status = inbox_.Push(job); !status.ok()) {
    Left(*job);
    telemetry_.Rejected("queue");
    Refuse(*job, std::move(status));
  }
}

void DeviceWorker::Cancel(uint64_t id, absl::Status why) {
  std::unique_ptr<Job> job = inbox_.Remove(id);
  if (job == nullptr) return;
  Left(*job);
  Refuse(*job, std::move(why));
}

void DeviceWorker::Shutdown() {
  inbox_.Close();
  for (std::unique_ptr<Job>& job : inbox_.TakeAll()) {
    Left(*job);
    Refuse(*job, absl::UnavailableError("the server is shutting down"));
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void DeviceWorker::ServeLane(Lane& lane) {
  while (std::unique_ptr<Job> job = inbox_.Pop()) {
    Left(*job);
    Run(lane, *job);
  }
}

void DeviceWorker::WatchDeadlines() {
  while (true) {
    std::vector<std::unique_ptr<Job>> expired = inbox_.WaitExpired();
    if (expired.empty()) return;
    for (std::unique_ptr<Job>& job : expired) {
      Left(*job);
      Refuse(*job, Expired());
    }
  }
}

void DeviceWorker::Run(Lane& lane, Job& job) {
  if (lost()) return Refuse(job, LostError());
  const absl::Time now = clock_.Now();
  if (job.deadline <= now) {
    return Refuse(job, Expired());
  }
  JobResult result;
  result.queue = now - job.submitted;
  result.batch_rows = job.segment.rows;
  result.batch_requests = 1;
  if (absl::Status status = Launch(lane, job, result); !status.ok()) {
    spdlog::error("request {}: launch on {} failed: {}", job.id, info().name, status.ToString());
    // Nothing of this job may run on in its memory. A stream that cannot even be waited for has
    // lost its device.
    if (!lane.stream->Synchronize().ok()) Latch();
    result.status = GenericError(job);
  } else if (status = Await(lane, result); !status.ok()) {
    spdlog::error("request {}: {} failed: {}", job.id, info().name, status.ToString());
    Latch();
    result.status = GenericError(job);
  } else if (result.launched) {
    telemetry_.Launched(job.spec, result.kernel_name, result.batch_rows, result.batch_requests,
                        result.kernel);
  }
  job.done(result);
}

absl::Status DeviceWorker::Launch(Lane& lane, Job& job, JobResult& result) {
  if (absl::Status status = lane.stream->Record(*lane.start); !status.ok()) return status;
  const auto segments = absl::MakeConstSpan(&job.segment, 1);
  const auto launched = job.spec.direction == Direction::kForward
                            ? backend_.Forward(job.spec, segments, *lane.stream)
                            : backend_.Backward(job.spec, segments, *lane.stream);
  if (!launched.ok()) return launched.status();
  result.kernel_name = launched->kernel;
  result.launched = launched->launches > 0;
  return lane.stream->Record(*lane.end);
}

absl::Status DeviceWorker::Await(Lane& lane, JobResult& result) {
  if (absl::Status status = lane.end->Synchronize(); !status.ok()) return status;
  if (!result.launched) return absl::OkStatus();
  const auto elapsed = backend_.Elapsed(*lane.start, *lane.end);
  if (!elapsed.ok()) return elapsed.status();
  result.kernel = *elapsed;
  return absl::OkStatus();
}

void DeviceWorker::Latch() {
  if (lost_.exchange(true)) return;
  spdlog::critical("device {} is lost", info().name);
  telemetry_.SetDeviceUp(false);
  if (on_lost_) on_lost_();
  for (std::unique_ptr<Job>& job : inbox_.TakeAll()) {
    Left(*job);
    Refuse(*job, LostError());
  }
}

void DeviceWorker::Left(const Job& job) { telemetry_.Queued(-1, -job.bytes); }

void DeviceWorker::Refuse(Job& job, absl::Status status) {
  JobResult result;
  result.status = std::move(status);
  result.queue = clock_.Now() - job.submitted;
  job.done(result);
}

}  // namespace normd
