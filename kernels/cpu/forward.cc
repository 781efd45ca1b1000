// Forward: a unit of rows, tile by tile, or, where a group does not fit a tile, chunk by chunk.
#include "kernels/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/forward.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h
#include "hwy/highway.h"
#include "kernels/cpu/convert-inl.h"
#include "kernels/cpu/exact_group.h"
#include "kernels/cpu/gate-inl.h"
#include "kernels/cpu/group-inl.h"
#include "kernels/cpu/plane-inl.h"
#include "kernels/cpu/tiling.h"
#include "kernels/cpu/work_unit.h"

HWY_BEFORE_NAMESPACE();
namespace normd {
namespace HWY_NAMESPACE {
namespace {

class ForwardUnit {
 public:
  ForwardUnit(const WorkUnit& unit, Scratch& scratch)
      : unit_(unit),
        spec_(*unit.spec),
        segment_(*unit.segment),
        s_(scratch),
        t_(spec_.has_residual || spec_.gate_order == GateOrder::kGateThenNorm ? s_.t.data()
                                                                              : s_.x.data()),
        inverse_size_(1 / static_cast<double>(spec_.group)) {}

  void Run() { IsWide(spec_) ? RunWide() : RunTiles(); }

 private:
  void RunTiles() {
    const int64_t tile_columns = TileColumns(spec_);
    const int64_t tile_rows = std::min(TileRows(spec_), unit_.rows);
    for (int64_t column = 0; column < spec_.width; column += tile_columns) {
      const int64_t columns = std::min(tile_columns, spec_.width - column);
      LoadParameters(column, columns, tile_rows);
      for (int64_t row = 0; row < unit_.rows; row += tile_rows) {
        const int64_t rows = std::min(tile_rows, unit_.rows - row);
        RunTile({unit_.first_row + row, rows, column, columns});
      }
    }
  }

  void RunTile(const Tile& tile) {
    LoadInputs(tile);
    const int64_t size = spec_.group;
    const int64_t groups = tile.elements() / size;
    TakeStatistics(spec_.kind, t_, groups, size, segment_.eps, s_.statistics.data());
    for (int64_t i = 0; i < groups; ++i) {
      GroupStatistics& statistics = s_.statistics[static_cast<size_t>(i)];
      if (statistics.exact) {
        RunExactGroup(Chunk(i * size, size), statistics, s_.h.data() + i * size);
      } else if (spec_.want_y) {
        Normalize(t_ + i * size, size, statistics, s_.h.data() + i * size);
      }
    }
    StoreStatistics(tile);
    StoreOutputs(tile);
  }

  void RunExactGroup(const GroupChunk& chunk, GroupStatistics& statistics, float* h) const {
    ExactGroup exact(spec_, segment_.eps);
    exact.TakeStatistics([&](auto visit) { visit(chunk); });
    statistics = {exact.mean(), 0, exact.rstd(), true};
    if (spec_.want_y) exact.Normalize(chunk, h);
  }

  void RunWide() {
    for (int64_t row = unit_.first_row; row < unit_.first_row + unit_.rows; ++row) {
      for (int64_t column = 0; column < spec_.width; column += spec_.group) {
        RunWideGroup(row, column);
      }
    }
  }

  void RunWideGroup(int64_t row, int64_t column) {
    GroupStatistics statistics = TakeWideStatistics(row, column);
    ExactGroup exact(spec_, segment_.eps);
    if (statistics.exact) {
      exact.TakeStatistics([&](auto visit) {
        ForEachChunk(row, column, [&](const Tile& tile) { visit(Chunk(0, tile.columns)); });
      });
      statistics = {exact.mean(), 0, exact.rstd(), true};
    }
    s_.statistics[0] = statistics;
    StoreStatistics({row, 1, column, spec_.group});
    if (!spec_.want_y && !spec_.want_residual_out) return;
    ForEachChunk(row, column, [&](const Tile& tile) HWY_ATTR {
      if (statistics.exact) {
        exact.Normalize(Chunk(0, tile.columns), s_.h.data());
      } else {
        Normalize(t_, tile.columns, statistics, s_.h.data());
      }
      LoadParameters(tile.column, tile.columns, 1);
      StoreOutputs(tile);
    });
  }

  GroupStatistics TakeWideStatistics(int64_t row, int64_t column) {
    float shift = 0;
    if (spec_.kind == NormKind::kLayerNorm) {
      float first = 0;
      double sum = 0;
      ForEachChunk(row, column, [&](const Tile& tile) HWY_ATTR {
        if (tile.column == column) first = t_[0];
        sum += SumShifted(t_, tile.columns, first);
      });
      shift = ShiftedMean(first, sum * inverse_size_);
    }
    double sums[2] = {};
    ForEachChunk(row, column,
                 [&](const Tile& tile) HWY_ATTR { AddMoments(t_, tile.columns, shift, sums); });
    const double residue = spec_.kind == NormKind::kLayerNorm ? sums[0] * inverse_size_ : 0;
    return FinishStatistics(shift, residue, sums[1] * inverse_size_, segment_.eps);
  }

  // Loads the group of `row` that starts at `column` chunk by chunk.
  template <typename F>
  void ForEachChunk(int64_t row, int64_t column, const F& f) {
    const int64_t end = column + spec_.group;
    for (int64_t begin = column; begin < end; begin += kMaxTileColumns) {
      const Tile tile = {row, 1, begin, std::min(kMaxTileColumns, end - begin)};
      LoadInputs(tile);
      f(tile);
    }
  }

  // Elements [first, first + columns) of the tile in scratch.
  GroupChunk Chunk(int64_t first, int64_t columns) const {
    return {
        .columns = columns, .t = t_ + first, .x = s_.x.data() + first, .z = s_.z.data() + first};
  }

  void LoadParameters(int64_t column, int64_t columns, int64_t rows) {
    if (spec_.has_weight) {
      Load(spec_.weight_dtype, segment_.weight, column, columns, s_.weight.data());
      AddConstant(spec_.weight_offset, columns, s_.weight.data());
      RepeatRow(rows, columns, s_.weight.data());
    }
    if (spec_.has_bias) {
      Load(spec_.bias_dtype, segment_.bias, column, columns, s_.bias.data());
      RepeatRow(rows, columns, s_.bias.data());
    }
  }

  // t.
  void LoadInputs(const Tile& tile) {
    const int64_t n = tile.elements();
    LoadTile(spec_.dtype, segment_.x, tile, s_.x.data());
    if (spec_.has_residual) {
      LoadTile(spec_.dtype, segment_.residual, tile, s_.added.data());
      AddPlanes(s_.x.data(), s_.added.data(), n, s_.t.data());
      Round(spec_.dtype, s_.t.data(), n, s_.t.data());
    }
    if (spec_.gate_order == GateOrder::kGateThenNorm) {
      LoadGate(tile);
      MultiplyPlanes(s_.x.data(), s_.gate.data(), n, s_.t.data());
    }
  }

  // z and a(z).
  void LoadGate(const Tile& tile) {
    LoadTile(spec_.z_dtype, segment_.z, tile, s_.z.data());
    Activate(spec_.gate, s_.z.data(), tile.elements(), s_.gate.data(), nullptr);
  }

  void StoreStatistics(const Tile& tile) const {
    const int64_t groups = tile.columns / spec_.group;
    for (int64_t r = 0; r < tile.rows; ++r) {
      const int64_t to = (tile.row + r) * spec_.groups() + tile.column / spec_.group;
      for (int64_t i = 0; i < groups; ++i) {
        const GroupStatistics& statistics = s_.statistics[static_cast<size_t>(r * groups + i)];
        if (spec_.want_mean) segment_.mean_out[to + i] = statistics.mean();
        if (spec_.want_rstd) segment_.rstd_out[to + i] = statistics.rstd;
      }
    }
  }

  // residual_out from t, y from h.
  void StoreOutputs(const Tile& tile) {
    const int64_t n = tile.elements();
    if (spec_.want_residual_out) StoreTile(spec_.dtype, t_, tile, segment_.residual_out);
    if (!spec_.want_y) return;
    float* const y = s_.y.data();
    const float* h = s_.h.data();
    if (spec_.round_before_weight) {
      Round(spec_.dtype, h, n, y);
      h = y;
    }
    if (spec_.has_weight || spec_.has_bias) {
      ApplyAffine(h, spec_.has_weight ? s_.weight.data() : nullptr,
                  spec_.has_bias ? s_.bias.data() : nullptr, n, y);
      h = y;
    }
    if (spec_.gate_order == GateOrder::kNormThenGate) {
      LoadGate(tile);
      MultiplyPlanes(h, s_.gate.data(), n, y);
      h = y;
    }
    StoreTile(spec_.dtype, h, tile, segment_.y);
  }

  const WorkUnit& unit_;
  const NormSpec& spec_;
  const Segment& segment_;
  Scratch& s_;
  float* const t_;
  const double inverse_size_;
};

void RunUnit(const WorkUnit& unit, Scratch& scratch) { ForwardUnit(unit, scratch).Run(); }

}  // namespace
// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace normd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normd {
namespace {

HWY_EXPORT(RunUnit);

}  // namespace

void RunForwardUnit(const WorkUnit& unit, Scratch& scratch) {
  HWY_DYNAMIC_DISPATCH(RunUnit)(unit, scratch);
}

}  // namespace normd
#endif
