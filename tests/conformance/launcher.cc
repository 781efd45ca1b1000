#include "tests/conformance/launcher.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/oracle/element.h"

namespace normd {
namespace {

constexpr int64_t kAlignment = 256;
constexpr int64_t kGuardBytes = 256;

int64_t RoundUp(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Byte i of a block that is all filler.
std::byte FillerAt(uint32_t filler, size_t i) {
  return static_cast<std::byte>(filler >> (8 * (i % 4)) & 0xFF);
}

void FillImage(std::vector<std::byte>& image, uint32_t filler) {
  for (size_t i = 0; i < image.size(); ++i) image[i] = FillerAt(filler, i);
}

// Another filler than the NaN pattern may be a right result.
bool MarksNan(const Placement& placement) { return placement.filler == Placement().filler; }

}  // namespace

double SlotBytes::at(int64_t index) const {
  return LoadElement(dtype, bytes.data() + index * SizeOf(dtype));
}

size_t PlacedLaunch::Block::ByteOf(int64_t row, int64_t column) const {
  return static_cast<size_t>(begin + (row * row_stride + column) * SizeOf(shape.dtype));
}

size_t PlacedLaunch::Block::row_bytes() const {
  return static_cast<size_t>(shape.columns * SizeOf(shape.dtype));
}

absl::Status Launcher::Prepare() {
  if (stream_ != nullptr) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<Stream>> stream = backend_.NewStream();
  if (stream.ok()) stream_ = std::move(*stream);
  return stream.status();
}

// Copies the whole block, through staging memory when the host may not touch it.
absl::Status Launcher::Transfer(const Block& block, std::vector<std::byte>& image, bool to_device) {
  const int64_t bytes = block.memory.bytes();
  if (block.kind == MemoryKind::kStaging) {
    to_device ? std::memcpy(block.memory.data(), image.data(), image.size())
              : std::memcpy(image.data(), block.memory.data(), image.size());
    return absl::OkStatus();
  }
  if (bounce_.bytes() < bytes) {
    absl::StatusOr<Memory> bounce =
        backend_.Allocate(std::max(bytes, 2 * bounce_.bytes()), MemoryKind::kStaging);
    if (!bounce.ok()) return bounce.status();
    bounce_ = std::move(*bounce);
  }
  void* host = bounce_.data();
  void* device = block.memory.data();
  if (to_device) std::memcpy(host, image.data(), image.size());
  const absl::Status copied =
      to_device ? stream_->Copy(device, host, bytes) : stream_->Copy(host, device, bytes);
  if (!copied.ok()) return copied;
  if (absl::Status waited = stream_->Synchronize(); !waited.ok()) return waited;
  if (!to_device) std::memcpy(image.data(), host, image.size());
  return absl::OkStatus();
}

absl::Status Launcher::PlaceSlot(Slot slot, const PlacedSegment& placed, MemoryKind kind,
                                 PerSlot<Block>& blocks, PlacedLaunch& launch) {
  const SlotShape shape = ShapeOf(slot, launch.spec_, placed.operands.rows);
  if (!shape.present) return absl::OkStatus();
  Segment& segment = launch.segments_.back();
  if (const Slot input = InPlaceInput(slot); placed.in_place && input != slot) {
    Block& block = blocks[IndexOf(input)];
    block.written = slot;
    SetSlot(slot, block.data(), block.row_stride, segment);
    return absl::OkStatus();
  }
  const Placement& placement = placed.placements[IndexOf(slot)];
  Block& block = blocks[IndexOf(slot)];
  block.kind = kind;
  block.shape = shape;
  block.written = slot;
  block.marks_unwritten = IsOutput(slot) && MarksNan(placement) && !placement.prefill.has_value();
  block.row_stride = shape.columns + (shape.matrix ? placement.row_padding : 0);
  const int64_t elements =
      shape.rows == 0 ? 0 : (shape.rows - 1) * block.row_stride + shape.columns;
  const int64_t span = elements * SizeOf(shape.dtype);
  const int64_t front = kGuardBytes + placement.offset_bytes;
  const int64_t total = RoundUp(front + span + (placement.at_end ? 0 : kGuardBytes));
  block.begin = placement.at_end ? total - span : front;
  absl::StatusOr<Memory> memory = backend_.Allocate(total, kind);
  if (!memory.ok()) return memory.status();
  block.memory = std::move(*memory);
  block.before.resize(static_cast<size_t>(total));
  FillImage(block.before, placement.filler);
  for (int64_t i = 0; i < shape.rows * shape.columns; ++i) {
    if (IsOutput(slot) && !placement.prefill.has_value()) break;
    const double value = IsOutput(slot) ? *placement.prefill
                                        : ValuesOf(slot, placed.operands)[static_cast<size_t>(i)];
    StoreElement(shape.dtype, value,
                 &block.before[block.ByteOf(i / shape.columns, i % shape.columns)]);
  }
  SetSlot(slot, block.data(), block.row_stride, segment);
  return Transfer(block, block.before, true);
}

absl::StatusOr<PlacedLaunch> Launcher::Place(const NormSpec& spec,
                                             absl::Span<const PlacedSegment> segments,
                                             MemoryKind kind) {
  if (absl::Status status = Prepare(); !status.ok()) return status;
  if (absl::Status status = Validate(spec); !status.ok()) return status;
  PlacedLaunch launch;
  launch.spec_ = spec;
  launch.blocks_.resize(segments.size());
  for (size_t i = 0; i < segments.size(); ++i) {
    const PlacedSegment& placed = segments[i];
    launch.segments_.emplace_back();
    launch.segments_.back().rows = placed.operands.rows;
    launch.segments_.back().eps = placed.operands.eps;
    for (size_t slot = 0; slot < kSlots; ++slot) {
      const absl::Status status = PlaceSlot(SlotAt(slot), placed, kind, launch.blocks_[i], launch);
      if (!status.ok()) return status;
    }
    if (absl::Status status = Validate(spec, launch.segments_.back()); !status.ok()) return status;
  }
  return launch;
}

absl::StatusOr<LaunchInfo> Launcher::Run(PlacedLaunch& launch) {
  const bool forward = launch.spec_.direction == Direction::kForward;
  absl::StatusOr<LaunchInfo> info =
      forward ? backend_.Forward(launch.spec_, launch.segments_, *stream_)
              : backend_.Backward(launch.spec_, launch.segments_, *stream_);
  if (!info.ok()) return info;
  if (absl::Status status = stream_->Synchronize(); !status.ok()) return status;
  return info;
}

// Takes the output's elements; all other bytes must be as they were.
absl::Status Launcher::ReadBlock(const Block& block, SegmentOutcome& outcome) {
  std::vector<std::byte> after(block.before.size());
  if (absl::Status status = Transfer(block, after, false); !status.ok()) return status;
  const char* name = Name(block.written);
  const bool output = IsOutput(block.written);
  SlotBytes& taken = outcome.outputs[IndexOf(block.written)];
  taken.dtype = block.shape.dtype;
  const auto element = static_cast<size_t>(SizeOf(block.shape.dtype));
  int64_t unwritten = 0;
  for (int64_t row = 0; output && row < block.shape.rows; ++row) {
    std::byte* first = after.data() + block.ByteOf(row, 0);
    const std::byte* initial = block.before.data() + block.ByteOf(row, 0);
    taken.bytes.insert(taken.bytes.end(), first, first + block.row_bytes());
    for (size_t at = 0; block.marks_unwritten && at < block.row_bytes(); at += element) {
      unwritten += std::memcmp(first + at, initial + at, element) == 0;
    }
    std::memcpy(first, initial, block.row_bytes());
  }
  if (unwritten > 0) {
    outcome.faults.push_back(absl::StrCat(name, ": ", unwritten, " elements were not written"));
  }
  const auto [changed, initial] = std::mismatch(after.begin(), after.end(), block.before.begin());
  if (changed == after.end()) return absl::OkStatus();
  outcome.faults.push_back(
      absl::StrCat(name, output ? ": a byte outside the elements changed" : ": the input changed",
                   ", at byte ", changed - after.begin() - block.begin, " from the first element"));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SegmentOutcome>> Launcher::ReadBack(PlacedLaunch& launch) {
  std::vector<SegmentOutcome> outcomes(launch.blocks_.size());
  for (size_t i = 0; i < outcomes.size(); ++i) {
    for (const Block& block : launch.blocks_[i]) {
      if (block.memory.data() == nullptr) continue;
      if (absl::Status status = ReadBlock(block, outcomes[i]); !status.ok()) return status;
    }
  }
  return outcomes;
}

absl::StatusOr<LaunchOutcome> Launcher::Run(const NormSpec& spec,
                                            absl::Span<const PlacedSegment> segments,
                                            MemoryKind kind) {
  absl::StatusOr<PlacedLaunch> launch = Place(spec, segments, kind);
  if (!launch.ok()) return launch.status();
  absl::StatusOr<LaunchInfo> info = Run(*launch);
  if (!info.ok()) return info.status();
  absl::StatusOr<std::vector<SegmentOutcome>> outcomes = ReadBack(*launch);
  if (!outcomes.ok()) return outcomes.status();
  return LaunchOutcome{*info, std::move(*outcomes)};
}

}  // namespace normd
