// Where a block and a thread of it stand: which segment and strip, which rows, group and columns.
#ifndef NORMD_KERNELS_CUDA_KERNEL_TILE_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_TILE_CUH_

#include <cstdint>

#include "kernels/cuda/kernel/moments.cuh"
#include "kernels/cuda/segment_table.h"

namespace normd::cuda {

// The segment that owns tile blockIdx.x: the last one whose first tile is not behind it. Segments
// without tiles are never found.
template <typename Table>
__device__ int FindSegment(const Table& table) {
  int low = 0;
  int high = table.count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (table.first_tile[middle] <= blockIdx.x) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// A block's share of a segment.
struct Tile {
  int64_t strip;
  int group_block;
  int column_tile;
};

__device__ inline Tile TileOf(const Geometry& geometry, uint32_t tile) {
  Tile place{tile, 0, 0};
  if (geometry.column_tiles > 1) {
    place.column_tile = static_cast<int>(tile % geometry.column_tiles);
    tile /= geometry.column_tiles;
    place.strip = tile;
  }
  if (geometry.group_blocks > 1) {
    place.group_block = static_cast<int>(tile % geometry.group_blocks);
    place.strip = tile / geometry.group_blocks;
  }
  return place;
}

// A thread's place in its block.
struct Place {
  int group;    // of the row; may lie past the last one
  int row;      // of those that the block takes at a time
  bool active;  // false: the thread only takes part in reductions
};

__device__ inline Place PlaceOf(const LaunchHeader& header, const Tile& tile, int team_index) {
  const Geometry& geometry = header.geometry;
  Place place{tile.group_block * geometry.groups_per_block, team_index, true};
  if (geometry.groups_per_block > 1) {
    place.row = team_index / geometry.groups_per_block;
    place.group += team_index % geometry.groups_per_block;
  }
  place.active = place.row < geometry.rows_per_block && place.group < header.groups;
  return place;
}

__device__ inline GroupSize GroupOf(const LaunchHeader& header) {
  return {static_cast<float>(header.group), header.inverse_group};
}

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_TILE_CUH_
