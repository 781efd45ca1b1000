// Backward: a unit of rows, tile by tile, or, where a group does not fit a tile, chunk by chunk.
#include "kernels/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/backward.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h
#include "hwy/highway.h"
#include "kernels/cpu/convert-inl.h"
#include "kernels/cpu/exact_group.h"
#include "kernels/cpu/gate-inl.h"
#include "kernels/cpu/group-inl.h"
#include "kernels/cpu/parameter_gradient-inl.h"
#include "kernels/cpu/plane-inl.h"
#include "kernels/cpu/tiling.h"
#include "kernels/cpu/work_unit.h"

HWY_BEFORE_NAMESPACE();
namespace normd {
namespace HWY_NAMESPACE {
namespace {

class BackwardUnit {
 public:
  BackwardUnit(const WorkUnit& unit, Scratch& scratch)
      : unit_(unit),
        spec_(*unit.spec),
        segment_(*unit.segment),
        s_(scratch),
        gate_then_norm_(spec_.gate_order == GateOrder::kGateThenNorm),
        norm_then_gate_(spec_.gate_order == GateOrder::kNormThenGate),
        need_dt_(spec_.want_dx || spec_.want_dresidual || (spec_.want_dz && gate_then_norm_)),
        need_h_(need_dt_ || spec_.want_dweight || spec_.want_dz),
        t_(gate_then_norm_ ? s_.t.data() : s_.x.data()),
        du_(norm_then_gate_ ? s_.du.data() : s_.dy.data()),
        g_(spec_.has_weight ? s_.g.data() : du_),
        inverse_size_(1 / static_cast<double>(spec_.group)) {}

  void Run() {
    if (unit_.dweight != nullptr) std::fill_n(unit_.dweight, spec_.width, 0.0);
    if (unit_.dbias != nullptr) std::fill_n(unit_.dbias, spec_.width, 0.0);
    IsWide(spec_) ? RunWide() : RunTiles();
  }

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
    if (need_h_) LoadValues(tile);
    LoadGradients(tile);
    if (need_h_) RunGroups(tile);
    FinishInputGradients(tile);
    if (need_h_) RunExactGroups(tile);
    FinishTile(tile);
  }

  // h and dt of the groups of a tile, step by step for all of them (see TakeStatistics).
  void RunGroups(const Tile& tile) {
    const int64_t size = spec_.group;
    const int64_t groups = tile.elements() / size;
    GroupStatistics* const statistics = s_.statistics.data();
    GroupGradient* const gradients = s_.gradients.data();
    if (reads_statistics()) {
      for (int64_t i = 0; i < groups; ++i) statistics[i] = Saved(StatisticsIndex(tile, i));
    } else {
      TakeStatistics(spec_.kind, t_, groups, size, segment_.eps, statistics);
    }
    for (int64_t i = 0; i < groups; ++i) {
      Normalize(t_ + i * size, size, statistics[i], s_.h.data() + i * size);
    }
    if (!need_dt_) return;
    for (int64_t i = 0; i < groups; ++i) {
      double sums[2] = {};
      AddGradientSums(g_ + i * size, s_.h.data() + i * size, size, sums);
      gradients[i] = FinishGradient(sums);
      statistics[i].exact |= !gradients[i].in_range();
    }
    for (int64_t i = 0; i < groups; ++i) {
      Differentiate(g_ + i * size, s_.h.data() + i * size, size, statistics[i].rstd, gradients[i],
                    s_.dx.data() + i * size);
    }
  }

  void RunExactGroups(const Tile& tile) {
    const int64_t groups = tile.elements() / spec_.group;
    for (int64_t i = 0; i < groups; ++i) {
      if (!s_.statistics[static_cast<size_t>(i)].exact) continue;
      const int64_t first = i * spec_.group;
      const GroupChunk chunk = Chunk(first, spec_.group);
      ExactGroup exact(spec_, segment_.eps);
      TakeExact(StatisticsIndex(tile, i), [&](auto visit) { visit(chunk); }, exact);
      RunExactChunk(exact, chunk, first);
    }
  }

  // One column is its own mean: h is 0 whatever was saved.
  bool reads_statistics() const {
    const bool own_mean = spec_.kind == NormKind::kLayerNorm && spec_.group == 1;
    return spec_.has_statistics && !own_mean;
  }

  // Of group `i` of a tile, in the saved statistics.
  int64_t StatisticsIndex(const Tile& tile, int64_t i) const {
    const int64_t tile_groups = tile.columns / spec_.group;
    return (tile.row + i / tile_groups) * spec_.groups() + tile.column / spec_.group +
           i % tile_groups;
  }

  float SavedMean(int64_t index) const {
    return spec_.kind == NormKind::kLayerNorm ? segment_.mean[index] : 0;
  }

  GroupStatistics Saved(int64_t index) const {
    return SavedStatistics(SavedMean(index), segment_.rstd[index]);
  }

  GroupGradient FinishGradient(const double (&sums)[2]) const {
    const bool centred = spec_.kind == NormKind::kLayerNorm;
    return {static_cast<float>(sums[0] * inverse_size_),
            centred ? static_cast<float>(sums[1] * inverse_size_) : 0};
  }

  void TakeExact(int64_t index, ExactGroup::Chunks chunks, ExactGroup& exact) const {
    if (reads_statistics() && IsFaithful(segment_.rstd[index])) {
      exact.UseStatistics(SavedMean(index), segment_.rstd[index]);
    } else {
      exact.TakeStatistics(chunks);
    }
    if (need_dt_) exact.TakeGradientSums(chunks);
  }

  void RunExactChunk(const ExactGroup& exact, const GroupChunk& chunk, int64_t first) {
    exact.Normalize(chunk, s_.h.data() + first);
    if (!need_dt_) return;
    exact.Differentiate(chunk, s_.dx.data() + first,
                        spec_.want_dz && gate_then_norm_ ? s_.dz.data() + first : nullptr);
  }

  void RunWide() {
    for (int64_t row = unit_.first_row; row < unit_.first_row + unit_.rows; ++row) {
      for (int64_t column = 0; column < spec_.width; column += spec_.group) {
        RunWideGroup(row, column);
      }
    }
  }

  void RunWideGroup(int64_t row, int64_t column) {
    GroupStatistics statistics;
    GroupGradient gradient;
    if (need_h_) statistics = TakeWideStatistics(row, column);
    if (need_dt_ && !statistics.exact) {
      double sums[2] = {};
      ForEachChunk(row, column, [&](const Tile& tile) HWY_ATTR {
        LoadValuesAndGradients(tile);
        Normalize(t_, tile.columns, statistics, s_.h.data());
        AddGradientSums(g_, s_.h.data(), tile.columns, sums);
      });
      gradient = FinishGradient(sums);
      statistics.exact = !gradient.in_range();
    }
    ExactGroup exact(spec_, segment_.eps);
    if (statistics.exact) {
      TakeExact(
          WideIndex(row, column),
          [&](auto visit) {
            ForEachChunk(row, column, [&](const Tile& tile) {
              LoadValuesAndGradients(tile);
              visit(Chunk(0, tile.columns));
            });
          },
          exact);
    }
    ForEachChunk(row, column, [&](const Tile& tile) HWY_ATTR {
      LoadValuesAndGradients(tile);
      if (need_h_) Normalize(t_, tile.columns, statistics, s_.h.data());
      if (need_dt_) {
        Differentiate(g_, s_.h.data(), tile.columns, statistics.rstd, gradient, s_.dx.data());
      }
      FinishInputGradients(tile);
      if (statistics.exact) RunExactChunk(exact, Chunk(0, tile.columns), 0);
      FinishTile(tile);
    });
  }

  // Of the group of `row` that starts at `column`, in the saved statistics.
  int64_t WideIndex(int64_t row, int64_t column) const {
    return row * spec_.groups() + column / spec_.group;
  }

  GroupStatistics TakeWideStatistics(int64_t row, int64_t column) {
    const bool centred = spec_.kind == NormKind::kLayerNorm;
    if (reads_statistics()) return Saved(WideIndex(row, column));
    float shift = 0;
    if (centred) {
      float first = 0;
      double sum = 0;
      ForEachChunk(row, column, [&](const Tile& tile) HWY_ATTR {
        LoadValues(tile);
        if (tile.column == column) first = t_[0];
        sum += SumShifted(t_, tile.columns, first);
      });
      shift = ShiftedMean(first, sum * inverse_size_);
    }
    double sums[2] = {};
    ForEachChunk(row, column, [&](const Tile& tile) HWY_ATTR {
      LoadValues(tile);
      AddMoments(t_, tile.columns, shift, sums);
    });
    return FinishStatistics(shift, centred ? sums[0] * inverse_size_ : 0, sums[1] * inverse_size_,
                            segment_.eps);
  }

  // `f(tile)` for the chunks of the group of `row` that starts at `column`.
  template <typename F>
  void ForEachChunk(int64_t row, int64_t column, const F& f) {
    const int64_t end = column + spec_.group;
    for (int64_t begin = column; begin < end; begin += kMaxTileColumns) {
      f(Tile{row, 1, begin, std::min(kMaxTileColumns, end - begin)});
    }
  }

  // Elements [first, first + columns) of the tile in scratch.
  GroupChunk Chunk(int64_t first, int64_t columns) const {
    return {.columns = columns,
            .t = t_ + first,
            .x = s_.x.data() + first,
            .z = s_.z.data() + first,
            .weight = spec_.has_weight ? s_.weight.data() + first : nullptr,
            .dy = s_.dy.data() + first,
            .dresidual_out = spec_.has_dresidual_out ? s_.added.data() + first : nullptr};
  }

  void LoadParameters(int64_t column, int64_t columns, int64_t rows) {
    if (spec_.has_weight) {
      Load(spec_.weight_dtype, segment_.weight, column, columns, s_.weight.data());
      AddConstant(spec_.weight_offset, columns, s_.weight.data());
      RepeatRow(rows, columns, s_.weight.data());
    }
    if (spec_.has_bias && spec_.want_dz && norm_then_gate_) {
      Load(spec_.bias_dtype, segment_.bias, column, columns, s_.bias.data());
      RepeatRow(rows, columns, s_.bias.data());
    }
  }

  // x and t.
  void LoadValues(const Tile& tile) {
    LoadTile(spec_.dtype, segment_.x, tile, s_.x.data());
    if (gate_then_norm_) {
      LoadGate(tile);
      MultiplyPlanes(s_.x.data(), s_.gate.data(), tile.elements(), s_.t.data());
    }
  }

  void LoadGate(const Tile& tile) {
    LoadTile(spec_.z_dtype, segment_.z, tile, s_.z.data());
    Activate(spec_.gate, s_.z.data(), tile.elements(), s_.gate.data(),
             spec_.want_dz ? s_.gate_slope.data() : nullptr);
  }

  // dy, du and g.
  void LoadGradients(const Tile& tile) {
    const int64_t n = tile.elements();
    LoadTile(spec_.dy_dtype, segment_.dy, tile, s_.dy.data());
    if (norm_then_gate_) {
      LoadGate(tile);
      MultiplyPlanes(s_.dy.data(), s_.gate.data(), n, s_.du.data());
    }
    if (spec_.has_weight && need_dt_) MultiplyPlanes(du_, s_.weight.data(), n, s_.g.data());
  }

  // A chunk of a wide group.
  void LoadValuesAndGradients(const Tile& tile) {
    LoadParameters(tile.column, tile.columns, 1);
    if (need_h_) LoadValues(tile);
    LoadGradients(tile);
  }

  // dx, and dz of GATE_THEN_NORM, from dt.
  void FinishInputGradients(const Tile& tile) {
    if (!need_dt_) return;
    const int64_t n = tile.elements();
    float* const dt = s_.dx.data();
    if (spec_.has_dresidual_out) {
      LoadTile(spec_.dtype, segment_.dresidual_out, tile, s_.added.data());
      AddPlanes(dt, s_.added.data(), n, dt);
    }
    if (!gate_then_norm_) return;
    if (spec_.want_dz) {
      MultiplyPlanes(dt, s_.x.data(), n, s_.dz.data());
      MultiplyPlanes(s_.dz.data(), s_.gate_slope.data(), n, s_.dz.data());
    }
    MultiplyPlanes(dt, s_.gate.data(), n, dt);
  }

  // Parameter gradients, dz of NORM_THEN_GATE, and the stores.
  void FinishTile(const Tile& tile) {
    const int64_t n = tile.elements();
    const float* h = s_.h.data();
    if (spec_.round_before_weight && need_h_) {
      Round(spec_.dtype, h, n, s_.y.data());
      h = s_.y.data();
    }
    if (unit_.dweight != nullptr) {
      AddRowSums(du_, h, tile, s_.sum.data(), unit_.dweight + tile.column);
    }
    if (unit_.dbias != nullptr) {
      AddRowSums(du_, nullptr, tile, s_.sum.data(), unit_.dbias + tile.column);
    }
    if (spec_.want_dz && norm_then_gate_) {
      float* const dz = s_.dz.data();
      ApplyAffine(h, spec_.has_weight ? s_.weight.data() : nullptr,
                  spec_.has_bias ? s_.bias.data() : nullptr, n, dz);
      MultiplyPlanes(dz, s_.dy.data(), n, dz);
      MultiplyPlanes(dz, s_.gate_slope.data(), n, dz);
    }
    if (spec_.want_dx) StoreTile(spec_.dtype, s_.dx.data(), tile, segment_.dx);
    if (spec_.want_dresidual) StoreTile(spec_.dtype, s_.dx.data(), tile, segment_.dresidual);
    if (spec_.want_dz) StoreTile(spec_.z_dtype, s_.dz.data(), tile, segment_.dz);
  }

  const WorkUnit& unit_;
  const NormSpec& spec_;
  const Segment& segment_;
  Scratch& s_;
  const bool gate_then_norm_;
  const bool norm_then_gate_;
  const bool need_dt_;
  const bool need_h_;
  float* const t_;
  float* const du_;
  float* const g_;
  const double inverse_size_;
};

void RunUnit(const WorkUnit& unit, Scratch& scratch) { BackwardUnit(unit, scratch).Run(); }

}  // namespace
// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace normd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normd {
namespace {

HWY_EXPORT(RunUnit);
HWY_EXPORT(FinishGradientColumns);

}  // namespace

void RunBackwardUnit(const WorkUnit& unit, Scratch& scratch) {
  HWY_DYNAMIC_DISPATCH(RunUnit)(unit, scratch);
}

void FinishParameterGradient(const PartialSums& partial, int64_t column, int64_t columns,
                             DataType type, void* gradient, Scratch& scratch) {
  HWY_DYNAMIC_DISPATCH(FinishGradientColumns)
  (partial, column, columns, type, gradient, scratch.sum.data());
}

}  // namespace normd
#endif
