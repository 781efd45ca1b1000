#include "kernels/cuda/plan.h"

#include <algorithm>
#include <cstdint>

namespace normd::cuda {
namespace {

// Blocks of one segment, unless a row alone has more groups; a block takes more rows instead.
constexpr int64_t kMaxForwardBlocks = int64_t{1} << 22;

constexpr int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

int VectorOf(DataType dtype) { return static_cast<int>(16 / SizeOf(dtype)); }

GateForm FormOf(const NormSpec& spec) {
  switch (spec.gate_order) {
    case GateOrder::kNone:
      return GateForm::kNone;
    case GateOrder::kNormThenGate:
      return GateForm::kAfterNorm;
    case GateOrder::kGateThenNorm:
      return GateForm::kBeforeNorm;
  }
  return GateForm::kNone;
}

// Lanes of a warp that hold `columns` columns, `per_lane` each.
int LanesLog2(int64_t columns, int64_t per_lane, int min_lanes) {
  int log2 = 0;
  while (int64_t{1} << log2 < min_lanes || (per_lane << log2) < columns) ++log2;
  return log2;
}

int ThreadsFor(int64_t columns, int64_t per_thread) {
  return static_cast<int>(CeilDivide(CeilDivide(columns, per_thread), kWarp) * kWarp);
}

// Lays the teams of a block over neighbouring groups first, then over rows.
Geometry Spread(const NormSpec& spec, int lanes_log2, int threads) {
  const int64_t teams = threads >> lanes_log2;
  Geometry geometry;
  geometry.lanes_log2 = lanes_log2;
  geometry.group_blocks = static_cast<int32_t>(CeilDivide(spec.groups(), teams));
  geometry.groups_per_block =
      static_cast<int32_t>(CeilDivide(spec.groups(), geometry.group_blocks));
  geometry.rows_per_block = static_cast<int32_t>(teams / geometry.groups_per_block);
  geometry.column_tiles = 1;
  return geometry;
}

// A group of one row a block.
Geometry BlockPerRow(const NormSpec& spec) {
  return {0, 1, 1, static_cast<int32_t>(spec.groups()), 1};
}

const char* NameOf(RowShape shape, int lanes_log2) {
  static constexpr const char* kTile1[kMaxLanesLog2 + 1] = {"cuda_row_tile_1",  "cuda_row_tile_2",
                                                            "cuda_row_tile_4",  "cuda_row_tile_8",
                                                            "cuda_row_tile_16", "cuda_row_tile_32"};
  switch (shape) {
    case RowShape::kTile1:
      return kTile1[lanes_log2];
    case RowShape::kTile2:
      return "cuda_row_tile_32x2";
    case RowShape::kTile4:
      return "cuda_row_tile_32x4";
    case RowShape::kBlock2:
      return "cuda_block_row_2";
    case RowShape::kBlock4:
      return "cuda_block_row_4";
  }
  return "";
}

// z and dy must have the dtype of x for a row to be held in its packed form.
bool OneDtype(const NormSpec& spec) {
  if (spec.has_gate() && spec.z_dtype != spec.dtype) return false;
  return spec.direction == Direction::kForward || spec.dy_dtype == spec.dtype;
}

RowShape TileShape(int64_t group, int vector) {
  if (group <= kWarp * vector) return RowShape::kTile1;
  return group <= 2 * kWarp * vector ? RowShape::kTile2 : RowShape::kTile4;
}

// Forward: a step a strip, while a grid can hold them.
int64_t ForwardStrips(const Geometry& geometry) {
  return std::max<int64_t>(1, kMaxForwardBlocks / geometry.group_blocks);
}

// Backward: strips that keep `resident_blocks` blocks a multiprocessor busy, and no more, since
// each leaves a partial row.
int64_t BackwardStrips(const Geometry& geometry, int64_t resident_blocks) {
  const int64_t blocks = int64_t{geometry.group_blocks} * geometry.column_tiles;
  return std::max<int64_t>(1, kProcessors * resident_blocks / blocks);
}

Plan TilePlan(const NormSpec& spec) {
  const bool forward = spec.direction == Direction::kForward;
  const GateForm gate = FormOf(spec);
  const int vector = VectorOf(spec.dtype);
  Plan plan;
  plan.family = Family::kRowTile;
  plan.vector = vector;
  plan.shape = TileShape(spec.group, vector);
  const int chunks = ChunksOf(plan.shape);
  const int lanes_log2 = LanesLog2(spec.group, int64_t{vector} * chunks, kMinLanes);
  const int lanes = 1 << lanes_log2;
  plan.kernel = NameOf(plan.shape, lanes_log2);
  plan.full = spec.group == int64_t{lanes} * vector * chunks;
  plan.threads =
      forward ? ForwardShape::TileThreads(lanes, chunks) : BackwardShape::TileThreads(gate, chunks);
  plan.geometry = Spread(spec, lanes_log2, plan.threads);
  const int in_flight = forward ? ForwardShape::RowsInFlight(gate, chunks)
                                : BackwardShape::RowsInFlight(gate, chunks);
  plan.rows_per_step = int64_t{plan.geometry.rows_per_block} * in_flight;
  plan.max_strips = forward
                        ? ForwardStrips(plan.geometry)
                        : BackwardStrips(plan.geometry, BackwardShape::TileBlocks(gate, chunks));
  return plan;
}

Plan BlockPlan(const NormSpec& spec, RowShape shape) {
  const int vector = VectorOf(spec.dtype);
  const int per_thread = vector * ChunksOf(shape);
  Plan plan;
  plan.family = Family::kBlockRow;
  plan.vector = vector;
  plan.shape = shape;
  plan.kernel = NameOf(shape, 0);
  plan.threads = ThreadsFor(spec.group, per_thread);
  plan.full = spec.group == int64_t{plan.threads} * per_thread;
  plan.geometry = BlockPerRow(spec);
  plan.rows_per_step = 1;
  plan.max_strips = spec.direction == Direction::kForward
                        ? ForwardStrips(plan.geometry)
                        : BackwardStrips(plan.geometry, std::min(16, 512 / plan.threads));
  return plan;
}

// Teams of a warp's lanes for narrow groups, of a whole block for wide ones.
Plan StreamingPlan(const NormSpec& spec) {
  Plan plan;
  plan.family = Family::kStreaming;
  plan.kernel = "cuda_streaming";
  plan.vector = StreamingShape::kVector;
  if (spec.group <= kWarp * StreamingShape::kVector) {
    const int lanes_log2 = LanesLog2(spec.group, StreamingShape::kVector, 1);
    plan.threads = StreamingShape::kTileThreads;
    plan.geometry = Spread(spec, lanes_log2, plan.threads);
  } else {
    plan.block_team = true;
    plan.threads = std::min(StreamingShape::kMaxBlockThreads,
                            ThreadsFor(spec.group, 2 * StreamingShape::kVector));
    plan.geometry = BlockPerRow(spec);
  }
  plan.rows_per_step = plan.geometry.rows_per_block;
  plan.max_strips = ForwardStrips(plan.geometry);
  return plan;
}

// The widest group that stays in registers of one block.
int64_t MaxBlockGroup(const NormSpec& spec) {
  const int vector = VectorOf(spec.dtype);
  return spec.direction == Direction::kForward
             ? int64_t{ForwardShape::kMaxBlockThreads} * vector * 4
             : int64_t{BackwardShape::MaxBlockThreads(FormOf(spec))} * BackwardShape::kBlockColumns;
}

RowShape BlockShape(const NormSpec& spec) {
  const int vector = VectorOf(spec.dtype);
  if (spec.direction == Direction::kBackward) {
    return BackwardShape::kBlockColumns == 2 * vector ? RowShape::kBlock2 : RowShape::kBlock4;
  }
  return spec.group <= int64_t{ForwardShape::kMaxBlockThreads} * vector * 2 ? RowShape::kBlock2
                                                                            : RowShape::kBlock4;
}

}  // namespace

KernelKey KeyOf(const NormSpec& spec, const Plan& plan) {
  const NormForm norm =
      spec.kind == NormKind::kLayerNorm ? NormForm::kLayerNorm : NormForm::kRmsNorm;
  return {norm, FormOf(spec), plan.shape, plan.block_team};
}

Plan MakePlan(const NormSpec& spec) {
  if (!OneDtype(spec) || spec.group > MaxBlockGroup(spec)) return StreamingPlan(spec);
  const int max_chunks = spec.direction == Direction::kForward ? ForwardShape::kMaxTileChunks
                                                               : BackwardShape::kMaxTileChunks;
  const bool tile = spec.group <= int64_t{max_chunks} * kWarp * VectorOf(spec.dtype);
  if (tile && spec.path != KernelPath::kSingleRow) return TilePlan(spec);
  return BlockPlan(spec, BlockShape(spec));
}

Plan MakeApplyPlan(const NormSpec& spec) {
  Plan plan = StreamingPlan(spec);
  plan.block_team = false;
  plan.threads = StreamingShape::kApplyThreads;
  const int64_t columns = std::min<int64_t>(spec.group, int64_t{plan.threads} * plan.vector);
  const int lanes_log2 = LanesLog2(columns, plan.vector, 1);
  plan.geometry = Spread(spec, lanes_log2, plan.threads);
  plan.geometry.column_tiles =
      static_cast<int32_t>(CeilDivide(spec.group, int64_t{plan.vector} << lanes_log2));
  plan.rows_per_step = plan.geometry.rows_per_block;
  plan.max_strips = BackwardStrips(plan.geometry, 4);
  return plan;
}

int32_t StripsOf(const Plan& plan, int64_t rows) {
  const int64_t steps = CeilDivide(rows, plan.rows_per_step);
  if (steps == 0) return 0;
  // As many steps in every strip as in the longest one.
  const int64_t steps_per_strip = CeilDivide(steps, plan.max_strips);
  return static_cast<int32_t>(CeilDivide(steps, steps_per_strip));
}

int MaxSegments(const Plan& plan) {
  return plan.family == Family::kStreaming ? kWideTable : MaxSegments(plan.shape);
}

int64_t BlocksPerStrip(const Plan& plan) {
  return int64_t{plan.geometry.group_blocks} * plan.geometry.column_tiles;
}

}  // namespace normd::cuda
