// WireReader: a cursor over the protobuf wire format as it lies in the slices of a received
// message. Elements may straddle slices anywhere. Copies nothing, allocates nothing.
//
// A method that returns false met the end of the message or of the current limit, or bytes that are
// no protobuf; the cursor is then good for nothing more. One thread at a time; the slices outlive
// the reader.
#ifndef NORMD_SERVER_RPC_WIRE_READER_H_
#define NORMD_SERVER_RPC_WIRE_READER_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "grpcpp/support/slice.h"

namespace normd {

// Where bytes lie in the slices of a message.
struct WireBytes {
  size_t slice = 0;   // the first one
  size_t offset = 0;  // in that slice
  int64_t bytes = 0;
};

// Copies the bytes out. REQUIRES: they were found by a WireReader over these slices
void Gather(absl::Span<const grpc::Slice> slices, const WireBytes& from, std::byte* to);

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireTag {
  uint32_t field = 0;
  WireType type = WireType::kVarint;
};

class WireReader {
 public:
  explicit WireReader(absl::Span<const grpc::Slice> slices);

  // At the end of the message or of the current limit.
  bool AtEnd() const { return position_ == limit_; }

  // Field 0, fields beyond the protocol's range and groups are refused.
  bool ReadTag(WireTag& tag);
  bool ReadVarint(uint64_t& value);
  bool ReadFixed32(uint32_t& value);
  // The length in front of bytes or of a message; true: that much is there.
  bool ReadLength(int64_t& bytes);
  // Notes where the next `bytes` lie and steps over them.
  // REQUIRES: that much is there
  WireBytes ReadBytes(int64_t bytes);
  // Steps over the value of a field.
  bool Skip(WireType type);

  // Confines the reader to the next `bytes` until PopLimit is given the result back.
  // REQUIRES: ReadLength gave `bytes`
  int64_t PushLimit(int64_t bytes);
  void PopLimit(int64_t previous) { limit_ = previous; }

 private:
  bool ReadByte(uint8_t& byte);
  void Advance(int64_t bytes);

  const absl::Span<const grpc::Slice> slices_;
  size_t slice_ = 0;   // index of the current slice
  size_t offset_ = 0;  // in that slice
  int64_t position_ = 0;
  int64_t limit_ = 0;
};

}  // namespace normd

#endif  // NORMD_SERVER_RPC_WIRE_READER_H_
