#include "client/cpp/loan.h"

namespace normd {

Loan::~Loan() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(this, &Loan::AllBack));
}

grpc::Slice Loan::Lend(absl::Span<const std::byte> memory) {
  {
    absl::MutexLock lock(&mutex_);
    ++lent_;
  }
  // gRPC only reads the slices of a message.
  return grpc::Slice(const_cast<std::byte*>(memory.data()), memory.size(), &Loan::Return, this);
}

void Loan::Return(void* loan) {
  Loan& self = *static_cast<Loan*>(loan);
  absl::MutexLock lock(&self.mutex_);
  --self.lent_;
}

}  // namespace normd
