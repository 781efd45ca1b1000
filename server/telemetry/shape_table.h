// ShapeTable: the histograms of each shape, by (op, direction, dtype, width, class of rows).
//
// Callers choose widths, so the number of series is capped: once the table is full, a new shape is
// counted under its op, direction and dtype with "other" as width and rows. Find is thread-safe and
// takes a lock only to add a shape. A shape lives as long as the table.
#ifndef NORMD_SERVER_TELEMETRY_SHAPE_TABLE_H_
#define NORMD_SERVER_TELEMETRY_SHAPE_TABLE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "kernels/mutex.h"
#include "kernels/norm_spec.h"
#include "server/telemetry/histogram.h"

namespace normd {

struct ShapeMetrics {
  static constexpr int64_t kOther = 0;  // as width

  ShapeMetrics(size_t op_index, Direction shape_direction, DataType shape_dtype,
               int64_t shape_width, int shape_row_class);

  size_t op;  // index of kOpLabels
  Direction direction;
  DataType dtype;
  int64_t width;  // kOther: all that found the table full; row_class means nothing then
  int row_class;
  Histogram request_ns;
  Histogram kernel_ns;
};

class ShapeTable {
 public:
  explicit ShapeTable(int max_shapes);
  ~ShapeTable();

  ShapeMetrics& Find(const NormSpec& spec, int64_t rows);

  // Every shape seen, in order of appearance, then those that stand for others.
  std::vector<const ShapeMetrics*> Shapes() const;
  // Shapes with series of their own.
  int64_t size() const { return size_.load(std::memory_order_acquire); }
  // Observations that were counted under "other".
  int64_t overflowed() const { return overflowed_.load(std::memory_order_relaxed); }

 private:
  struct Slot {
    uint64_t key = 0;  // written before `shape` is published
    std::atomic<ShapeMetrics*> shape{nullptr};
  };

  ShapeMetrics& Insert(uint64_t key, const NormSpec& spec, int row_class);
  ShapeMetrics& Other(const NormSpec& spec);

  const int64_t max_shapes_;
  const uint64_t mask_;
  std::vector<Slot> slots_;  // open addressing, at most half full
  std::atomic<int64_t> size_{0};
  std::atomic<int64_t> overflowed_{0};

  mutable Mutex mutex_;
  std::vector<std::unique_ptr<ShapeMetrics>> shapes_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::atomic<ShapeMetrics*>> others_;  // by op, direction, dtype
};

}  // namespace normd

#endif  // NORMD_SERVER_TELEMETRY_SHAPE_TABLE_H_
