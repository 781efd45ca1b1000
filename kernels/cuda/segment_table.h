// What a kernel gets: a header that all segments share, and a table of segments, both in kernel
// parameter space. Plain data, read by host code and device code alike.
#ifndef NORMD_KERNELS_CUDA_SEGMENT_TABLE_H_
#define NORMD_KERNELS_CUDA_SEGMENT_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/kernel_shape.h"
#include "kernels/data_type.h"

namespace normd::cuda {

struct Input {
  const void* data;
  int64_t row_stride;  // elements
};

struct Output {
  void* data;
  int64_t row_stride;  // elements
};

// How the threads of a block are laid over rows and groups (plan.h chooses it).
struct Geometry {
  int32_t lanes_log2;        // threads that share one group of one row; unused when a block does
  int32_t groups_per_block;  // neighbouring groups that a block works on at a time
  int32_t rows_per_block;    // rows that a block works on at a time
  int32_t group_blocks;      // blocks that share a row
  int32_t column_tiles;      // pieces of a group, in the pass that needs no whole group
};

// Everything that the segments of one launch share.
struct LaunchHeader {
  Geometry geometry;
  int32_t width;
  int32_t group;
  int32_t groups;
  float inverse_group;  // 1 / group, rounded to nearest
  float weight_offset;
  DataType dtype;
  DataType z_dtype;
  DataType dy_dtype;
  DataType weight_dtype;
  DataType bias_dtype;
  bool silu;  // of a gate: else sigmoid
  bool full;  // the lanes of a row hold exactly one group
  bool has_weight;
  bool has_bias;
  bool has_residual;
  bool has_dresidual_out;
  bool has_statistics;
  bool round_before_weight;
  bool want_y;
  bool want_mean;
  bool want_rstd;
  bool want_residual_out;
  bool want_dx;
  bool want_dz;
  bool want_dweight;
  bool want_dbias;
  bool want_dresidual;
};

// Operands that the spec does not have are null.
struct ForwardSegment {
  int64_t rows;
  float eps;
  int32_t strips;           // row steps are dealt to the strips in turn
  bool aligned_rows;        // every row operand can be moved 16 bytes at a time
  bool aligned_parameters;  // weight and bias too
  Input x;
  Input z;
  Input residual;
  Output y;
  Output residual_out;
  const void* weight;
  const void* bias;
  float* mean;
  float* rstd;
};

// What the first of the two streaming backward passes leaves for the second, for each row and
// group.
struct RowSums;
inline constexpr int64_t kRowSumsBytes = 24;

struct BackwardSegment {
  int64_t rows;
  float eps;
  int32_t strips;
  bool aligned_rows;
  bool aligned_parameters;
  Input x;
  Input z;
  Input dy;
  Input dresidual_out;
  Output dx;
  Output dz;
  Output dresidual;
  const void* weight;
  const void* bias;
  const float* mean;
  const float* rstd;
  float* partials;  // [wanted of dweight, dbias][strips][width]
  RowSums* sums;    // [rows, groups], streaming only
};

// One parameter gradient of one segment: the sum of its partial rows.
struct SumSegment {
  const float* partials;  // [strips][width]
  void* output;           // [width]
  int32_t strips;
  DataType dtype;
};

// Tiles of segment i are [first_tile[i], first_tile[i + 1]); those of the last one end with the
// grid.
template <typename SegmentType, int kCapacityValue>
struct SegmentTable {
  static constexpr int kCapacity = kCapacityValue;
  LaunchHeader header;
  int32_t count;
  uint32_t first_tile[kCapacityValue];
  SegmentType segments[kCapacityValue];
};

// Kernel parameters may have this many bytes on sm_70 and later.
inline constexpr size_t kMaxParameterBytes = 32764;

// A launch copies the whole table, whatever is in it (about 1 us for every 5 KiB; kernels/cuda/
// README.md), so the kernels for narrow rows, which run with many segments, exist in three sizes.
inline constexpr int kSmallTable = 4;
inline constexpr int kMediumTable = 32;
inline constexpr int kLargeTable = 160;
// Wide rows fill a GPU sooner: more segments than this take several launches.
inline constexpr int kWideTable = 16;

// Segments that one launch of the row families takes.
constexpr int MaxSegments(RowShape shape) {
  return shape == RowShape::kTile1 ? kLargeTable : kWideTable;
}

static_assert(sizeof(SegmentTable<ForwardSegment, kLargeTable>) <= kMaxParameterBytes);
static_assert(sizeof(SegmentTable<BackwardSegment, kLargeTable>) <= kMaxParameterBytes);
static_assert(sizeof(SegmentTable<SumSegment, 2 * kLargeTable>) <= kMaxParameterBytes);

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_SEGMENT_TABLE_H_
