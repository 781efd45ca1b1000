#include "kernels/cpu/launch.h"

#include <algorithm>
#include <new>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/cpu/tiling.h"
#include "kernels/cpu/work_unit.h"

namespace normd {

absl::StatusOr<std::unique_ptr<Launch>> Launch::Make(const NormSpec& spec,
                                                     absl::Span<const Segment> segments) {
  std::unique_ptr<Launch> launch(new Launch(spec, segments));
  if (launch->sums_size_ == 0) return launch;
  launch->sums_.reset(new (std::nothrow) double[static_cast<size_t>(launch->sums_size_)]);
  if (launch->sums_ == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no ", launch->sums_size_ * 8, " bytes for sums of parameter gradients"));
  }
  return launch;
}

Launch::Launch(const NormSpec& spec, absl::Span<const Segment> segments) : spec_(spec) {
  parts_.reserve(segments.size());
  for (const Segment& segment : segments) {
    Part part;
    part.segment = segment;
    part.unit_rows = UnitRows(spec, segment.rows);
    part.first_unit = units_;
    part.units = DivideUp(segment.rows, part.unit_rows);
    part.first_sum = sums_size_;
    units_ += part.units;
    sums_size_ += partial_sums() * part.units * spec.width;
    parts_.push_back(part);
  }
  if (WantsParameterGradients(spec)) {
    finish_units_ = static_cast<int64_t>(segments.size()) * DivideUp(spec.width, kMaxTileColumns);
  }
}

double* Launch::DweightSums(const Part& part, int64_t strip) const {
  return spec_.want_dweight ? sums_.get() + part.first_sum + strip * spec_.width : nullptr;
}

double* Launch::DbiasSums(const Part& part, int64_t strip) const {
  if (!spec_.want_dbias) return nullptr;
  const int64_t before = spec_.want_dweight ? part.units : 0;
  return sums_.get() + part.first_sum + (before + strip) * spec_.width;
}

void Launch::Run(ThreadPool& pool, Scratch& scratch) {
  pool.ParallelFor(units_, scratch, [this](int64_t unit, Scratch& s) { RunUnit(unit, s); });
  pool.ParallelFor(finish_units_, scratch,
                   [this](int64_t unit, Scratch& s) { RunFinishUnit(unit, s); });
}

void Launch::RunUnit(int64_t unit, Scratch& scratch) const {
  const auto after =
      std::upper_bound(parts_.begin(), parts_.end(), unit,
                       [](int64_t value, const Part& part) { return value < part.first_unit; });
  const Part& part = *(after - 1);
  const int64_t strip = unit - part.first_unit;
  WorkUnit work;
  work.spec = &spec_;
  work.segment = &part.segment;
  work.first_row = strip * part.unit_rows;
  work.rows = std::min(part.unit_rows, part.segment.rows - work.first_row);
  work.dweight = DweightSums(part, strip);
  work.dbias = DbiasSums(part, strip);
  if (spec_.direction == Direction::kForward) {
    RunForwardUnit(work, scratch);
  } else {
    RunBackwardUnit(work, scratch);
  }
}

void Launch::RunFinishUnit(int64_t unit, Scratch& scratch) const {
  const int64_t blocks = DivideUp(spec_.width, kMaxTileColumns);
  const Part& part = parts_[static_cast<size_t>(unit / blocks)];
  const int64_t column = unit % blocks * kMaxTileColumns;
  const int64_t columns = std::min(kMaxTileColumns, spec_.width - column);
  if (spec_.want_dweight) {
    FinishParameterGradient({DweightSums(part, 0), part.units, spec_.width}, column, columns,
                            spec_.dweight_dtype, part.segment.dweight, scratch);
  }
  if (spec_.want_dbias) {
    FinishParameterGradient({DbiasSums(part, 0), part.units, spec_.width}, column, columns,
                            spec_.dbias_dtype, part.segment.dbias, scratch);
  }
}

}  // namespace normd
