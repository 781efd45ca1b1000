// Job: one op that waits for a device and then runs on it.
#ifndef NORMD_SERVER_BATCHING_JOB_H_
#define NORMD_SERVER_BATCHING_JOB_H_

#include <cstdint>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kernels/norm_spec.h"
#include "kernels/segment.h"

namespace normd {

// How a job ended.
struct JobResult {
  absl::Status status;
  absl::Duration queue;    // from the submission to the launch, or to the end without one
  absl::Duration kernel;   // device time of the batch that the job ran in; zero: not launched
  int64_t batch_rows = 0;  // of that batch
  int64_t batch_requests = 0;
  const char* kernel_name = "";  // static storage
  bool launched = false;
};

// Whoever holds a job calls `done` exactly once, on any thread, holding no lock. The memory that
// the segment points to is the submitter's and lives until then.
struct Job {
  uint64_t id = 0;  // of the request; unique in the process
  NormSpec spec;
  Segment segment;
  int64_t bytes = 0;                                // of its operands
  absl::Time deadline = absl::InfiniteFuture();     // a reading of Clock
  absl::Time submitted;                             // set by the worker
  absl::AnyInvocable<void(const JobResult&)> done;  // must not block
};

}  // namespace normd

#endif  // NORMD_SERVER_BATCHING_JOB_H_
