#include "server/rpc/wire_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace normd {

static_assert(std::endian::native == std::endian::little, "tensors travel little-endian");

void Gather(absl::Span<const grpc::Slice> slices, const WireBytes& from, std::byte* to) {
  size_t slice = from.slice;
  size_t offset = from.offset;
  for (int64_t left = from.bytes; left > 0; ++slice, offset = 0) {
    const size_t run = std::min(slices[slice].size() - offset, static_cast<size_t>(left));
    std::memcpy(to, slices[slice].begin() + offset, run);
    to += run;
    left -= static_cast<int64_t>(run);
  }
}

WireReader::WireReader(absl::Span<const grpc::Slice> slices) : slices_(slices) {
  for (const grpc::Slice& slice : slices) limit_ += static_cast<int64_t>(slice.size());
}

bool WireReader::ReadByte(uint8_t& byte) {
  if (AtEnd()) return false;
  while (offset_ == slices_[slice_].size()) {
    ++slice_;
    offset_ = 0;
  }
  byte = slices_[slice_].begin()[offset_++];
  ++position_;
  return true;
}

bool WireReader::ReadVarint(uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    uint8_t byte = 0;
    if (!ReadByte(byte)) return false;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

bool WireReader::ReadTag(WireTag& tag) {
  uint64_t value = 0;
  if (!ReadVarint(value) || value > std::numeric_limits<uint32_t>::max()) return false;
  tag.field = static_cast<uint32_t>(value >> 3);
  tag.type = static_cast<WireType>(value & 7);
  if (tag.field == 0) return false;
  switch (tag.type) {
    case WireType::kVarint:
    case WireType::kFixed64:
    case WireType::kBytes:
    case WireType::kFixed32:
      return true;
  }
  return false;
}

bool WireReader::ReadFixed32(uint32_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    uint8_t byte = 0;
    if (!ReadByte(byte)) return false;
    value |= static_cast<uint32_t>(byte) << shift;
  }
  return true;
}

bool WireReader::ReadLength(int64_t& bytes) {
  uint64_t value = 0;
  if (!ReadVarint(value) || value > static_cast<uint64_t>(limit_ - position_)) return false;
  bytes = static_cast<int64_t>(value);
  return true;
}

WireBytes WireReader::ReadBytes(int64_t bytes) {
  const WireBytes result{slice_, offset_, bytes};
  Advance(bytes);
  return result;
}

void WireReader::Advance(int64_t bytes) {
  position_ += bytes;
  while (bytes > 0) {
    const auto run = std::min(static_cast<int64_t>(slices_[slice_].size() - offset_), bytes);
    bytes -= run;
    offset_ += static_cast<size_t>(run);
    if (bytes > 0) {
      ++slice_;
      offset_ = 0;
    }
  }
}

bool WireReader::Skip(WireType type) {
  uint64_t ignored = 0;
  int64_t bytes = 0;
  switch (type) {
    case WireType::kVarint:
      return ReadVarint(ignored);
    case WireType::kFixed64:
      bytes = 8;
      break;
    case WireType::kFixed32:
      bytes = 4;
      break;
    case WireType::kBytes:
      if (!ReadLength(bytes)) return false;
      break;
  }
  if (bytes > limit_ - position_) return false;
  Advance(bytes);
  return true;
}

int64_t WireReader::PushLimit(int64_t bytes) {
  const int64_t previous = limit_;
  limit_ = position_ + bytes;
  return previous;
}

}  // namespace normd
