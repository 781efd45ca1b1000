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
  int64_t offset_bytes = 0;  // from an address that is a multiple of 256
  int64_t row_padding = 0;   // elements between two rows
  bool at_end = false;       // the last element ends where the allocation ends
  uint16_t filler = 0x7FA5;  // around the elements, and in outputs before the run
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

class Launcher {
 public:
  explicit Launcher(Backend& backend) : backend_(backend) {}

  // REQUIRES: as Backend::Forward. An error is the backend's.
  absl::StatusOr<LaunchOutcome> Run(const NormSpec& spec, absl::Span<const PlacedSegment> segments,
                                    MemoryKind kind);

  Backend& backend() { return backend_; }

 private:
  struct Block;
  struct Layout;

  absl::Status Prepare();
  absl::StatusOr<Layout> Place(const NormSpec& spec, const PlacedSegment& placed, MemoryKind kind);
  absl::Status Transfer(Block& block, std::vector<std::byte>& image, bool to_device);
  absl::StatusOr<SegmentOutcome> Collect(const NormSpec& spec, const PlacedSegment& placed,
                                         Layout& layout);

  Backend& backend_;
  std::unique_ptr<Stream> stream_;
  Memory bounce_;
};

}  // namespace normd

#endif  // NORMD_TESTS_CONFORMANCE_LAUNCHER_H_
