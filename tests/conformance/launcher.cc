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

}  // namespace

double SlotBytes::at(int64_t index) const {
  return LoadElement(dtype, bytes.data() + index * SizeOf(dtype));
}

// One allocation and what it must hold.
struct Launcher::Block {
  Memory memory;
  MemoryKind kind = MemoryKind::kDevice;
  std::vector<std::byte> before;  // all bytes, as uploaded
  int64_t begin = 0;              // byte offset of the first element
  int64_t row_stride = 0;         // elements
  SlotShape shape;

  char* data() const { return static_cast<char*>(memory.data()) + begin; }
  size_t ByteOf(int64_t row, int64_t column) const {
    return static_cast<size_t>(begin + (row * row_stride + column) * SizeOf(shape.dtype));
  }
  size_t row_bytes() const { return static_cast<size_t>(shape.columns * SizeOf(shape.dtype)); }
};

struct Launcher::Layout {
  PerSlot<Block> blocks;  // without memory: not present, or an output in place of its input
  Segment segment;
};

namespace {

// Whether an element still holds the filler. Only for the NaN pattern: another one may be a result.
bool Unwritten(const std::byte* element, int64_t bytes, uint16_t filler) {
  if (filler != Placement().filler) return false;
  for (int64_t i = 0; i < bytes; ++i) {
    if (element[i] != static_cast<std::byte>((i % 2 == 0 ? filler : filler >> 8) & 0xFF)) {
      return false;
    }
  }
  return true;
}

void FillImage(std::vector<std::byte>& image, uint16_t filler) {
  for (size_t i = 0; i < image.size(); ++i) {
    image[i] = static_cast<std::byte>((i % 2 == 0 ? filler : filler >> 8) & 0xFF);
  }
}

}  // namespace

absl::Status Launcher::Prepare() {
  if (stream_ != nullptr) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<Stream>> stream = backend_.NewStream();
  if (stream.ok()) stream_ = std::move(*stream);
  return stream.status();
}

// Copies the whole block, through staging memory when the host may not touch it.
absl::Status Launcher::Transfer(Block& block, std::vector<std::byte>& image, bool to_device) {
  const int64_t bytes = block.memory.bytes();
  void* host = block.memory.data();
  if (block.kind == MemoryKind::kDevice) {
    if (bounce_.bytes() < bytes) {
      absl::StatusOr<Memory> bounce =
          backend_.Allocate(std::max(bytes, 2 * bounce_.bytes()), MemoryKind::kStaging);
      if (!bounce.ok()) return bounce.status();
      bounce_ = std::move(*bounce);
    }
    host = bounce_.data();
  }
  const bool copies = block.kind == MemoryKind::kDevice;
  if (to_device) std::memcpy(host, image.data(), image.size());
  if (copies) {
    void* device = block.memory.data();
    const absl::Status status =
        to_device ? stream_->Copy(device, host, bytes) : stream_->Copy(host, device, bytes);
    if (!status.ok()) return status;
    if (absl::Status waited = stream_->Synchronize(); !waited.ok()) return waited;
  }
  if (!to_device) std::memcpy(image.data(), host, image.size());
  return absl::OkStatus();
}

absl::StatusOr<Launcher::Layout> Launcher::Place(const NormSpec& spec, const PlacedSegment& placed,
                                                 MemoryKind kind) {
  Layout layout;
  layout.segment.rows = placed.operands.rows;
  layout.segment.eps = placed.operands.eps;
  for (size_t index = 0; index < kSlots; ++index) {
    const Slot slot = SlotAt(index);
    const SlotShape shape = ShapeOf(slot, spec, placed.operands.rows);
    if (!shape.present) continue;
    const Slot input = InPlaceInput(slot);
    if (placed.in_place && input != slot) {
      const Block& block = layout.blocks[IndexOf(input)];
      SetSlot(slot, block.data(), block.row_stride, layout.segment);
      continue;
    }
    const Placement& placement = placed.placements[index];
    Block& block = layout.blocks[index];
    block.kind = kind;
    block.shape = shape;
    block.row_stride = shape.columns + (shape.matrix ? placement.row_padding : 0);
    const int64_t elements =
        shape.rows == 0 ? 0 : (shape.rows - 1) * block.row_stride + shape.columns;
    const int64_t span = elements * SizeOf(shape.dtype);
    const int64_t total =
        RoundUp(kGuardBytes + placement.offset_bytes + span + (placement.at_end ? 0 : kGuardBytes));
    block.begin = placement.at_end ? total - span : kGuardBytes + placement.offset_bytes;
    absl::StatusOr<Memory> memory = backend_.Allocate(total, kind);
    if (!memory.ok()) return memory.status();
    block.memory = std::move(*memory);
    block.before.resize(static_cast<size_t>(total));
    FillImage(block.before, placement.filler);
    if (!IsOutput(slot)) {
      const std::vector<double>& values = ValuesOf(slot, placed.operands);
      for (int64_t i = 0; i < shape.rows * shape.columns; ++i) {
        StoreElement(shape.dtype, values[static_cast<size_t>(i)],
                     &block.before[block.ByteOf(i / shape.columns, i % shape.columns)]);
      }
    }
    if (absl::Status status = Transfer(block, block.before, true); !status.ok()) return status;
    SetSlot(slot, block.data(), block.row_stride, layout.segment);
  }
  return layout;
}

absl::StatusOr<SegmentOutcome> Launcher::Collect(const NormSpec& spec, const PlacedSegment& placed,
                                                 Layout& layout) {
  SegmentOutcome outcome;
  PerSlot<Slot> written{};  // the output that a block holds; the slot itself otherwise
  for (size_t i = 0; i < kSlots; ++i) written[i] = SlotAt(i);
  for (size_t i = 0; i < kSlots; ++i) {
    const bool present = ShapeOf(SlotAt(i), spec, placed.operands.rows).present;
    if (placed.in_place && present) written[IndexOf(InPlaceInput(SlotAt(i)))] = SlotAt(i);
  }
  for (size_t index = 0; index < kSlots; ++index) {
    Block& block = layout.blocks[index];
    if (block.memory.data() == nullptr) continue;
    std::vector<std::byte> after(block.before.size());
    if (absl::Status status = Transfer(block, after, false); !status.ok()) return status;
    const Slot slot = written[index];
    const char* name = Name(slot);
    if (IsOutput(slot)) {
      SlotBytes& output = outcome.outputs[IndexOf(slot)];
      output.dtype = block.shape.dtype;
      for (int64_t row = 0; row < block.shape.rows; ++row) {
        const auto first = after.begin() + static_cast<int64_t>(block.ByteOf(row, 0));
        const auto last = first + static_cast<int64_t>(block.row_bytes());
        output.bytes.insert(output.bytes.end(), first, last);
        for (int64_t c = 0; c < block.shape.columns && SlotAt(index) == slot; ++c) {
          const int64_t bytes = SizeOf(block.shape.dtype);
          if (!Unwritten(&*first + c * bytes, bytes, placed.placements[index].filler)) continue;
          outcome.faults.push_back(absl::StrCat(name, ": [", row, ", ", c, "] was not written"));
          break;
        }
        // What is left is what may not change.
        std::copy_n(block.before.begin() + static_cast<int64_t>(block.ByteOf(row, 0)),
                    block.row_bytes(), first);
      }
    }
    const auto [changed, expected] =
        std::mismatch(after.begin(), after.end(), block.before.begin());
    if (changed == after.end()) continue;
    const int64_t at = changed - after.begin() - block.begin;
    outcome.faults.push_back(absl::StrCat(
        name, IsOutput(slot) ? ": a byte outside the elements changed" : ": the input changed",
        ", at byte ", at, " from the first element"));
  }
  return outcome;
}

absl::StatusOr<LaunchOutcome> Launcher::Run(const NormSpec& spec,
                                            absl::Span<const PlacedSegment> segments,
                                            MemoryKind kind) {
  if (absl::Status status = Prepare(); !status.ok()) return status;
  if (absl::Status status = Validate(spec); !status.ok()) return status;
  std::vector<Layout> layouts;
  std::vector<Segment> launched;
  for (const PlacedSegment& placed : segments) {
    absl::StatusOr<Layout> layout = Place(spec, placed, kind);
    if (!layout.ok()) return layout.status();
    if (absl::Status status = Validate(spec, layout->segment); !status.ok()) return status;
    launched.push_back(layout->segment);
    layouts.push_back(std::move(*layout));
  }
  absl::StatusOr<LaunchInfo> info = spec.direction == Direction::kForward
                                        ? backend_.Forward(spec, launched, *stream_)
                                        : backend_.Backward(spec, launched, *stream_);
  if (!info.ok()) return info.status();
  if (absl::Status status = stream_->Synchronize(); !status.ok()) return status;
  LaunchOutcome outcome;
  outcome.info = *info;
  for (size_t i = 0; i < segments.size(); ++i) {
    absl::StatusOr<SegmentOutcome> collected = Collect(spec, segments[i], layouts[i]);
    if (!collected.ok()) return collected.status();
    outcome.segments.push_back(std::move(*collected));
  }
  return outcome;
}

}  // namespace normd
