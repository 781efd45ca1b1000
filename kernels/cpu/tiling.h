// How a launch is cut into work: pure functions of the op and of one segment's rows, never of the
// threads or of the other segments, so that the same request always gives the same bits.
//
// Segment -> units (rows that one thread takes) -> column blocks -> tiles (what lies in scratch).
// A group wider than kMaxTileColumns does not fit a tile; it streams through scratch in chunks.
#ifndef NORMD_KERNELS_CPU_TILING_H_
#define NORMD_KERNELS_CPU_TILING_H_

#include <algorithm>
#include <cstdint>

#include "kernels/norm_spec.h"

namespace normd {

// Floats of a tile of narrow rows: small enough that its planes stay in the first-level cache.
inline constexpr int64_t kTileElements = 2048;
// The most columns of a tile; the planes of a row of this width stay in the second-level cache.
inline constexpr int64_t kMaxTileColumns = 8192;
// Elements of a unit: tens of microseconds, far more than handing a unit out costs.
inline constexpr int64_t kUnitElements = 65536;
// Units that sum parameter gradients keep a partial sum each: at least this many rows a unit keeps
// the partial sums smaller than the inputs, at most this many units keeps their number small.
inline constexpr int64_t kMinStripRows = 8;
inline constexpr int64_t kMaxStrips = 256;

constexpr int64_t DivideUp(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

constexpr bool WantsParameterGradients(const NormSpec& spec) {
  return spec.want_dweight || spec.want_dbias;
}

// Whether groups stream through scratch in chunks.
constexpr bool IsWide(const NormSpec& spec) { return spec.group > kMaxTileColumns; }

// Rows of each unit of a segment of `rows` rows; its last unit may have fewer.
constexpr int64_t UnitRows(const NormSpec& spec, int64_t rows) {
  const int64_t unit_rows = DivideUp(kUnitElements, spec.width);
  if (!WantsParameterGradients(spec)) return unit_rows;
  const int64_t strip_rows = std::max(unit_rows, DivideUp(rows, kMaxStrips));
  return DivideUp(strip_rows, kMinStripRows) * kMinStripRows;
}

// Columns of a tile: whole groups. REQUIRES: !IsWide(spec)
constexpr int64_t TileColumns(const NormSpec& spec) {
  return std::min(spec.width, kMaxTileColumns / spec.group * spec.group);
}

// Rows of a tile. REQUIRES: !IsWide(spec)
constexpr int64_t TileRows(const NormSpec& spec) {
  if (spec.path == KernelPath::kSingleRow) return 1;
  return std::max(int64_t{1}, kTileElements / TileColumns(spec));
}

constexpr const char* KernelName(const NormSpec& spec) {
  if (IsWide(spec)) return "cpu_wide_row";
  return TileRows(spec) == 1 ? "cpu_single_row" : "cpu_row_tile";
}

}  // namespace normd

#endif  // NORMD_KERNELS_CPU_TILING_H_
