// Scratch: the working memory of one thread. A plane holds one operand of a tile in fp32, rows one
// after the other without gaps.
//
// Planes are longer than a tile by one vector: kernels work in whole vectors and let the last one
// run over the end.
#ifndef NORMD_KERNELS_CPU_SCRATCH_H_
#define NORMD_KERNELS_CPU_SCRATCH_H_

#include <array>
#include <cstdint>

#include "kernels/cpu/group_statistics.h"
#include "kernels/cpu/tiling.h"

namespace normd {

// About 0.7 MiB; made on the heap, before the first request.
struct Scratch {
  static constexpr int64_t kPaddingElements = 64;  // covers the widest vector, 16 floats
  using Plane = std::array<float, kMaxTileColumns + kPaddingElements>;

  alignas(64) Plane x = {};
  alignas(64) Plane z = {};
  alignas(64) Plane t = {};
  alignas(64) Plane h = {};
  alignas(64) Plane gate = {};        // a(z)
  alignas(64) Plane gate_slope = {};  // a'(z)
  alignas(64) Plane weight = {};      // w + o, repeated for every row of a tile
  alignas(64) Plane bias = {};        // repeated likewise
  alignas(64) Plane y = {};
  alignas(64) Plane dy = {};
  alignas(64) Plane du = {};
  alignas(64) Plane g = {};
  alignas(64) Plane dx = {};
  alignas(64) Plane dz = {};
  alignas(64) Plane added = {};  // residual, or dresidual_out
  alignas(64) Plane sum = {};    // parameter gradients of a few rows
  std::array<GroupStatistics, kMaxTileColumns> statistics = {};
  std::array<GroupGradient, kMaxTileColumns> gradients = {};
};

}  // namespace normd

#endif  // NORMD_KERNELS_CPU_SCRATCH_H_
