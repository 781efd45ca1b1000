// RequestWriter: a serialised message whose tensors stay where the caller has them. Small fields go
// through the generated classes, payloads follow as slices. Used by one thread.
#ifndef NORMD_CLIENT_CPP_REQUEST_WRITER_H_
#define NORMD_CLIENT_CPP_REQUEST_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cpp/loan.h"
#include "client/cpp/tensor.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"

namespace normd {

class RequestWriter {
 public:
  // `fields`: the serialised message without its tensors. `loan` outlives the message.
  RequestWriter(std::string fields, Loan& loan);

  // Appends `operand` as the Tensor of this field number.
  void Add(int field_number, const Operand& operand);

  // Makes the message and empties the writer. RESOURCE_EXHAUSTED past protobuf's 2 GiB.
  absl::Status Finish(grpc::ByteBuffer& message);

 private:
  void Flush();

  Loan& loan_;
  std::string pending_;  // bytes that follow the last slice
  std::vector<grpc::Slice> slices_;
  int64_t bytes_ = 0;  // of the whole message
};

}  // namespace normd

#endif  // NORMD_CLIENT_CPP_REQUEST_WRITER_H_
