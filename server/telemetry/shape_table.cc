#include "server/telemetry/shape_table.h"

#include "absl/hash/hash.h"
#include "absl/numeric/bits.h"
#include "server/telemetry/labels.h"

namespace normd {
namespace {

// Injective: kMaxWidth is 2^24, a class of rows under 32.
uint64_t KeyOf(const NormSpec& spec, int row_class) {
  uint64_t key = static_cast<uint64_t>(spec.width);
  key = key << 5 | static_cast<uint64_t>(row_class);
  key = key << 2 | Index(spec.dtype);
  key = key << 1 | Index(spec.direction);
  return key << 2 | OpIndex(spec);
}

size_t OtherIndex(const NormSpec& spec) {
  return (OpIndex(spec) * kDirections + Index(spec.direction)) * kDataTypes + Index(spec.dtype);
}

}  // namespace

ShapeMetrics::ShapeMetrics(size_t op_index, Direction shape_direction, DataType shape_dtype,
                           int64_t shape_width, int shape_row_class)
    : op(op_index),
      direction(shape_direction),
      dtype(shape_dtype),
      width(shape_width),
      row_class(shape_row_class),
      request_ns(DurationBounds()),
      kernel_ns(DurationBounds()) {}

ShapeTable::ShapeTable(int max_shapes)
    : max_shapes_(max_shapes),
      mask_(absl::bit_ceil(static_cast<uint64_t>(max_shapes) * 2) - 1),
      slots_(mask_ + 1),
      others_(kOps * kDirections * kDataTypes) {}

ShapeTable::~ShapeTable() = default;

ShapeMetrics& ShapeTable::Find(const NormSpec& spec, int64_t rows) {
  const int row_class = RowClass(rows);
  const uint64_t key = KeyOf(spec, row_class);
  for (uint64_t i = absl::HashOf(key);; ++i) {
    Slot& slot = slots_[i & mask_];
    ShapeMetrics* const shape = slot.shape.load(std::memory_order_acquire);
    if (shape == nullptr) return Insert(key, spec, row_class);
    if (slot.key == key) return *shape;
  }
}

ShapeMetrics& ShapeTable::Insert(uint64_t key, const NormSpec& spec, int row_class) {
  // Without the lock first: a full table stays full, and strangers to it must not queue up here.
  if (size() >= max_shapes_) return Other(spec);
  {
    const MutexLock lock(mutex_);
    uint64_t i = absl::HashOf(key);
    ShapeMetrics* shape = nullptr;
    while ((shape = slots_[i & mask_].shape.load(std::memory_order_acquire)) != nullptr) {
      if (slots_[i & mask_].key == key) return *shape;
      ++i;
    }
    if (size() < max_shapes_) {
      shapes_.push_back(std::make_unique<ShapeMetrics>(OpIndex(spec), spec.direction, spec.dtype,
                                                       spec.width, row_class));
      slots_[i & mask_].key = key;
      slots_[i & mask_].shape.store(shapes_.back().get(), std::memory_order_release);
      size_.fetch_add(1, std::memory_order_release);
      return *shapes_.back();
    }
  }
  return Other(spec);
}

ShapeMetrics& ShapeTable::Other(const NormSpec& spec) {
  overflowed_.fetch_add(1, std::memory_order_relaxed);
  std::atomic<ShapeMetrics*>& other = others_[OtherIndex(spec)];
  ShapeMetrics* shape = other.load(std::memory_order_acquire);
  if (shape != nullptr) return *shape;
  const MutexLock lock(mutex_);
  shape = other.load(std::memory_order_acquire);
  if (shape != nullptr) return *shape;
  shapes_.push_back(std::make_unique<ShapeMetrics>(OpIndex(spec), spec.direction, spec.dtype,
                                                   ShapeMetrics::kOther, 0));
  other.store(shapes_.back().get(), std::memory_order_release);
  return *shapes_.back();
}

std::vector<const ShapeMetrics*> ShapeTable::Shapes() const {
  const MutexLock lock(mutex_);
  std::vector<const ShapeMetrics*> shapes;
  shapes.reserve(shapes_.size());
  for (const auto& shape : shapes_) shapes.push_back(shape.get());
  return shapes;
}

}  // namespace normd
