// TileList: segments in the order of a launch, with the first tile of each. A list is filled until
// the next segment would not fit, launched, and cleared.
#ifndef NORMD_KERNELS_CUDA_TILE_LIST_H_
#define NORMD_KERNELS_CUDA_TILE_LIST_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/segment_table.h"

namespace normd::cuda {

template <typename SegmentType>
class TileList {
 public:
  // Blocks of one launch; far from the 2^31 - 1 that a grid may have.
  static constexpr int64_t kMaxBlocks = int64_t{1} << 30;

  // `max_segments`: 1 to kLargeTable.
  explicit TileList(int max_segments) : max_segments_(max_segments) {}

  bool empty() const { return count_ == 0; }

  // Whether a segment of `tiles` tiles can be added. One that is alone always can.
  bool Fits(int64_t tiles) const {
    return empty() || (count_ < max_segments_ && blocks_ + tiles <= kMaxBlocks);
  }

  // REQUIRES: Fits(tiles), tiles > 0
  void Add(const SegmentType& segment, int64_t tiles) {
    const auto index = static_cast<size_t>(count_++);
    segments_[index] = segment;
    first_tile_[index] = static_cast<uint32_t>(blocks_);
    blocks_ += tiles;
  }

  void Clear() {
    count_ = 0;
    blocks_ = 0;
  }

  // Points into the list.
  TableLaunch<SegmentType> Launch(const LaunchHeader& header, int threads,
                                  cudaStream_t stream) const {
    return {&header,
            segments_.data(),
            first_tile_.data(),
            count_,
            static_cast<uint32_t>(blocks_),
            threads,
            stream};
  }

 private:
  int max_segments_;
  int count_ = 0;
  int64_t blocks_ = 0;
  std::array<SegmentType, kLargeTable> segments_;
  std::array<uint32_t, kLargeTable> first_tile_;
};

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_TILE_LIST_H_
