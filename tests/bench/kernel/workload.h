// Workload: the device memory of one point. Holds some sets of tensors, filled and ready, and gives
// the segments of a launch over each.
//
// Owns its memory; must not outlive its backend, nor end while a stream still uses it.
#ifndef NORMD_TESTS_BENCH_KERNEL_WORKLOAD_H_
#define NORMD_TESTS_BENCH_KERNEL_WORKLOAD_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/backend.h"
#include "tests/bench/kernel/period.h"
#include "tests/bench/kernel/point.h"
#include "tests/bench/kernel/tensors.h"

namespace normd {

// Bytes of one set of the point's tensors, each aligned to 256 bytes.
int64_t SetBytes(const Point& point);

// The point with as many rows as fit `max_bytes` with one set, at most its own; a multiple of the
// segments. RESOURCE_EXHAUSTED when not even one row a segment fits.
absl::StatusOr<Point> FitRows(const Point& point, int64_t max_bytes);

class Workload {
 public:
  // Sets to rotate among, so that together they exceed any cache: 1 when one does alone, or when
  // the point does not rotate.
  static int64_t SetsFor(const Point& point, int64_t max_bytes);

  // Allocates and fills; waits for the device. The period is read, not kept.
  static absl::StatusOr<Workload> Make(const Point& point, const Period& period, int64_t sets,
                                       Backend& backend, Stream& stream);

  const NormSpec& spec() const { return spec_; }
  int64_t sets() const { return static_cast<int64_t>(segments_.size()); }
  absl::Span<const Segment> segments(int64_t set) const {
    return segments_[static_cast<size_t>(set)];
  }
  const Tensor& tensor(TensorId id) const { return tensors_[static_cast<size_t>(id)]; }
  // Address of a row of a tensor of a set; null when the spec does not have the tensor.
  std::byte* Row(int64_t set, TensorId id, int64_t row) const;

  // Fills the outputs of a set with a value that no op writes: NaN in every type.
  absl::Status PoisonOutputs(int64_t set, Stream& stream) const;

 private:
  Workload() = default;
  int64_t RowsOf(const Tensor& tensor) const { return tensor.per_segment ? segment_count_ : rows_; }
  absl::Status Upload(const Period& period, Backend& backend, Stream& stream);
  Segment SegmentAt(int64_t set, int64_t index, float eps) const;

  NormSpec spec_;
  TensorTable tensors_;
  std::array<int64_t, kTensors> offsets_ = {};  // in a set
  int64_t set_bytes_ = 0;
  int64_t rows_ = 0;
  int64_t segment_count_ = 0;
  Memory memory_;
  std::vector<std::vector<Segment>> segments_;  // of each set
};

}  // namespace normd

#endif  // NORMD_TESTS_BENCH_KERNEL_WORKLOAD_H_
