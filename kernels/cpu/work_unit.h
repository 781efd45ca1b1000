// WorkUnit: rows of one segment that one thread takes through an op, and the vector kernels that
// do it. They are thread-safe as long as every thread has its own Scratch.
#ifndef NORMD_KERNELS_CPU_WORK_UNIT_H_
#define NORMD_KERNELS_CPU_WORK_UNIT_H_

#include <cstdint>

#include "kernels/cpu/scratch.h"
#include "kernels/norm_spec.h"
#include "kernels/segment.h"

namespace normd {

struct WorkUnit {
  const NormSpec* spec = nullptr;
  const Segment* segment = nullptr;
  int64_t first_row = 0;
  int64_t rows = 0;
  // Partial sums of this unit, [width] each, overwritten; null when not wanted.
  double* dweight = nullptr;
  double* dbias = nullptr;
};

void RunForwardUnit(const WorkUnit& unit, Scratch& scratch);
void RunBackwardUnit(const WorkUnit& unit, Scratch& scratch);

// Partial sums of one parameter's gradient: [strips, width].
struct PartialSums {
  double* data = nullptr;
  int64_t strips = 0;  // 0: the sum is zero
  int64_t width = 0;
};

// Adds columns [column, column + columns) of the strips by a tree whose form depends on their
// number alone, in place, and writes the sums to the same columns of `gradient`, an array of
// `type`. REQUIRES: columns <= kMaxTileColumns
void FinishParameterGradient(const PartialSums& partial, int64_t column, int64_t columns,
                             DataType type, void* gradient, Scratch& scratch);

}  // namespace normd

#endif  // NORMD_KERNELS_CPU_WORK_UNIT_H_
