// Launcher: places operands in a backend's memory, runs one launch and reads everything back.
//
// Every operand lies in memory of its own. All bytes that are not input elements (guards before and
// behind, gaps between rows, outputs before the run) hold a NaN pattern that arithmetic does not
// make, so that a byte written where none may be, an output element left out, an input changed and
// a value read from outside its tensor all show. Not thread-safe.
//
// Tensors pass through host images. Tests that need more than host memory place operands themselves
// (tests/cases/large_cases.cc).
#ifndef NORMD_TESTS_CONFORMANCE_LAUNCHER_H_
#define NORMD_TESTS_CONFORMANCE_LAUNCHER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/backend.h"
#include "tests/conformance/slots.h"
#include "tests/oracle/oracle.h"

namespace normd {

// Where one operand lies.
struct Placement {
  int64_t offset_bytes = 0;       // from an address that is a multiple of 256
  int64_t row_padding = 0;        // elements between two rows
  bool at_end = false;            // the last element ends where the allocation ends
  uint32_t filler = 0x7FA57FA5;   // little-endian, around the elements
  std::optional<double> prefill;  // in an output before the run; without it, the filler
};

// One segment of a launch.
struct PlacedSegment {
  Operands operands;
  PerSlot<Placement> placements;
  bool in_place = false;  // y on x, dx on dy
};

// The elements of one output (or input) after the run, dense, as they lie in memory.
struct SlotBytes {
  DataType dtype = DataType::kFloat32;
  std::vector<std::byte> bytes;

  int64_t size() const { return static_cast<int64_t>(bytes.size()) / SizeOf(dtype); }
  double at(int64_t index) const;
  bool operator==(const SlotBytes&) const = default;
};

struct SegmentOutcome {
  PerSlot<SlotBytes> outputs;       // empty where not wanted
  std::vector<std::string> faults;  // memory that is not as it must be
};

struct LaunchOutcome {
  LaunchInfo info;
  std::vector<SegmentOutcome> segments;
};

// Operands in place, ready to run any number of times. Belongs to the Launcher that made it.
class PlacedLaunch {
 public:
  PlacedLaunch() = default;
  PlacedLaunch(PlacedLaunch&&) = default;
  PlacedLaunch& operator=(PlacedLaunch&&) = default;

 private:
  friend class Launcher;

  // One allocation and what it must hold.
  struct Block {
    Memory memory;
    MemoryKind kind = MemoryKind::kDevice;
    std::vector<std::byte> before;  // all bytes, as uploaded
    int64_t begin = 0;              // byte offset of the first element
    int64_t row_stride = 0;         // elements
    SlotShape shape;
    Slot written = Slot::kX;       // the output that lies here; the input when none does
    bool marks_unwritten = false;  // outputs start as the NaN pattern

    char* data() const { return static_cast<char*>(memory.data()) + begin; }
    size_t ByteOf(int64_t row, int64_t column) const;
    size_t row_bytes() const;
  };

  NormSpec spec_;
  std::vector<PerSlot<Block>> blocks_;  // without memory: not present, or in place
  std::vector<Segment> segments_;
};

class Launcher {
 public:
  explicit Launcher(Backend& backend) : backend_(backend) {}

  // Validates, places, runs once and reads back. An error is the validation's or the backend's.
  absl::StatusOr<LaunchOutcome> Run(const NormSpec& spec, absl::Span<const PlacedSegment> segments,
                                    MemoryKind kind);

  // The three steps apart, to run what is placed again. Run an in-place launch only once.
  absl::StatusOr<PlacedLaunch> Place(const NormSpec& spec, absl::Span<const PlacedSegment> segments,
                                     MemoryKind kind);
  absl::StatusOr<LaunchInfo> Run(PlacedLaunch& launch);
  absl::StatusOr<std::vector<SegmentOutcome>> ReadBack(PlacedLaunch& launch);

  Backend& backend() { return backend_; }

 private:
  using Block = PlacedLaunch::Block;

  absl::Status Prepare();
  absl::Status PlaceSlot(Slot slot, const PlacedSegment& placed, MemoryKind kind,
                         PerSlot<Block>& blocks, PlacedLaunch& launch);
  absl::Status Transfer(const Block& block, std::vector<std::byte>& image, bool to_device);
  absl::Status ReadBlock(const Block& block, SegmentOutcome& outcome);

  Backend& backend_;
  std::unique_ptr<Stream> stream_;
  Memory bounce_;
};

}  // namespace normd

#endif  // NORMD_TESTS_CONFORMANCE_LAUNCHER_H_
