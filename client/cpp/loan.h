// Loan: memory of the caller that gRPC reads. gRPC may hold a slice after the call has completed
// (a cancelled or expired one, seen up to 0.2 ms), so whoever lends waits for its return.
// Thread-safe.
#ifndef NORMD_CLIENT_CPP_LOAN_H_
#define NORMD_CLIENT_CPP_LOAN_H_

#include <cstddef>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "grpcpp/support/slice.h"

namespace normd {

class Loan {
 public:
  Loan() = default;
  ~Loan();  // waits until everything is back
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  // A slice over `memory`, which is not copied. The memory is back when the last copy of the slice
  // has ended.
  grpc::Slice Lend(absl::Span<const std::byte> memory);

 private:
  static void Return(void* loan);
  bool AllBack() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return lent_ == 0; }

  absl::Mutex mutex_;
  int lent_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace normd

#endif  // NORMD_CLIENT_CPP_LOAN_H_
