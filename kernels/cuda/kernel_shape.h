// The shapes that kernels are compiled in: families, threads, rows in flight. Plain constants that
// the plan chooses from and the kernels are bounded by.
#ifndef NORMD_KERNELS_CUDA_KERNEL_SHAPE_H_
#define NORMD_KERNELS_CUDA_KERNEL_SHAPE_H_

#include <cstdint>

namespace normd::cuda {

enum class Family : uint8_t {
  kRowTile,    // a row over 2 to 32 lanes of a warp, many rows a block, the row in registers
  kBlockRow,   // a row a block, the row in registers
  kStreaming,  // any width and mix of dtypes: the row is read again for each pass
};

// What the kernels are templates of, apart from the dtype: the norm, the gate, the shape.
enum class NormForm : uint8_t { kLayerNorm, kRmsNorm };

enum class GateForm : uint8_t { kNone, kAfterNorm, kBeforeNorm };

// Row kernels by the vectors of 16 bytes that a thread holds of one row. Backward has kTile1,
// kTile2 and, with 16 columns a thread, kBlock2 (2-byte elements) or kBlock4 (fp32).
enum class RowShape : uint8_t { kTile1, kTile2, kTile4, kBlock2, kBlock4 };

constexpr int ChunksOf(RowShape shape) {
  switch (shape) {
    case RowShape::kTile1:
      return 1;
    case RowShape::kTile2:
    case RowShape::kBlock2:
      return 2;
    case RowShape::kTile4:
    case RowShape::kBlock4:
      return 4;
  }
  return 0;
}

constexpr bool IsTile(RowShape shape) {
  return shape == RowShape::kTile1 || shape == RowShape::kTile2 || shape == RowShape::kTile4;
}

struct KernelKey {
  NormForm norm = NormForm::kLayerNorm;
  GateForm gate = GateForm::kNone;
  RowShape shape = RowShape::kTile1;  // row families
  bool block_team = false;            // streaming: a block works on a row, not some lanes
};

// Lanes of the narrowest and of the widest row tile.
inline constexpr int kMinLanes = 2;
inline constexpr int kMaxLanesLog2 = 5;
inline constexpr int kWarp = 32;

// Forward. Source: the prototype's table in kernels/cuda/README.md.
struct ForwardShape {
  // Most vectors of 16 bytes that a lane holds of one row: 1, 2 or 4.
  static constexpr int kMaxTileChunks = 4;
  static constexpr int kMaxTileThreads = 128;
  // Many small blocks, one pass each.
  static constexpr int TileThreads(int lanes, int chunks) {
    return lanes == 2 || chunks > 1 ? 32 : 64;
  }
  // Row tiles whose loads are issued before the first use.
  static constexpr int RowsInFlight(GateForm gate, int chunks) {
    return chunks == 4 ? (gate == GateForm::kNone ? 2 : 1) : (gate == GateForm::kNone ? 4 : 2);
  }
  // Of a block-row kernel: with up to 128 registers a thread.
  static constexpr int kMaxBlockThreads = 512;
};

// Backward: the sums of dweight and dbias stay in registers, so a thread holds less of a row.
struct BackwardShape {
  static constexpr int kMaxTileChunks = 2;
  static constexpr int RowsInFlight(GateForm gate, int chunks) {
    return chunks == 1 && gate == GateForm::kNone ? 2 : 1;
  }
  static constexpr int TileThreads(GateForm gate, int chunks) {
    return chunks == 2 && gate != GateForm::kNone ? 128 : 256;
  }
  // Blocks a multiprocessor that the registers are bounded for.
  static constexpr int TileBlocks(GateForm gate, int chunks) {
    return TileThreads(gate, chunks) == 128 ? 3 : 2;
  }
  // 16 columns a thread, whatever the dtype. A gate takes registers from the block.
  static constexpr int kBlockColumns = 16;
  static constexpr int MaxBlockThreads(GateForm gate) {
    return gate == GateForm::kNone ? 512 : 256;
  }
};

// The streaming family takes 8 columns a thread and step.
struct StreamingShape {
  static constexpr int kVector = 8;
  static constexpr int kTileThreads = 128;
  static constexpr int kMaxBlockThreads = 512;
  static constexpr int kApplyThreads = 256;
};

// Multiprocessors of the GPU that the numbers of strips were chosen for (H100 SXM, H200). On
// another GPU the bits are the same and the last wave of blocks is less full.
inline constexpr int kProcessors = 132;

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_SHAPE_H_
