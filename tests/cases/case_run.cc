#include "tests/cases/case_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/field_error.h"
#include "tests/cases/case_refusals.h"
#include "tests/cases/case_sweeps.h"
#include "tests/cases/expected.h"
#include "tests/conformance/checker.h"
#include "tests/conformance/launcher.h"
#include "tests/conformance/suite.h"
#include "tests/oracle/element.h"

namespace normd {
namespace {

using Faults = std::vector<std::string>;

void Append(const std::string& what, Faults found, Faults& faults) {
  for (std::string& fault : found) faults.push_back(absl::StrCat(what, ": ", fault));
}

PlacedSegment Placed(Operands operands) {
  PlacedSegment segment;
  segment.operands = std::move(operands);
  return segment;
}

// The whole of a case's checks, with the case, its operands and its results at hand.
class CaseRun {
 public:
  explicit CaseRun(const NormCase& norm_case)
      : case_(norm_case),
        spec_(norm_case.spec),
        operands_(MakeOperands(norm_case, spec_, norm_case.rows)),
        right_(normd::RunOracle(norm_case, spec_, operands_)) {}

  Faults Run() {
    Plain("plain", spec_, Placed(operands_), MemoryKind::kDevice);
    Variants();
    if (case_.Has("sequence")) AfterAnotherEps();
    if (case_.Has("poison")) AmongPoison();
    if (case_.Has("repeat")) Repeats();
    if (case_.Has("compare_rows")) PrefixesOfRows();
    if (case_.Has("base_shape")) TwoStrides();
    if (case_.Has("dy_strides")) Refused("dy", [](Segment& s) { s.dy.row_stride = 0; });
    if (case_.Has("masks")) EveryMask();
    if (case_.Has("alias")) InPlace();
    if (case_.Has("expect_dbias") || case_.Has("bias")) BiasGradientRefused();
    if (case_.Has("prefill_grad_buffers")) PrefilledGradients();
    if (case_.Has("device_index")) OnAnotherDevice();
    if (case_.Has("row_stride")) LongStride();
    if (case_.kind == "nan-inf-propagation" || case_.kind == "fast-math") WithoutSpecialRows();
    Append("sweep", SweepFaults(case_), faults_);
    return std::move(faults_);
  }

 private:
  // Launches, checks against the file and the oracle, and gives the outcome back.
  SegmentOutcome Plain(const std::string& what, const NormSpec& spec, const PlacedSegment& segment,
                       MemoryKind kind) {
    const auto outcome = SharedLauncher().Run(spec, {segment}, kind);
    if (!outcome.ok()) {
      faults_.push_back(absl::StrCat(what, ": ", outcome.status().ToString()));
      return {};
    }
    if (case_.rows == 0 && outcome->info.launches != 0) faults_.push_back("launched for no rows");
    Check(what, spec, outcome->segments.front());
    return outcome->segments.front();
  }

  void Check(const std::string& what, const NormSpec& spec, const SegmentOutcome& outcome) {
    Append(what, ExpectedFaults(case_, outcome), faults_);
    Append(what, FaultsOf(spec, operands_, right_, outcome), faults_);
  }

  void ExpectSame(const std::string& what, const SegmentOutcome& a, const SegmentOutcome& b) {
    Append(what, BitDifferences(a, b), faults_);
  }

  // Kernel paths, memory, alignment and the end of an allocation; gradients in fp32; statistics
  // saved by forward.
  void Variants() {
    const bool small = case_.rows * case_.columns <= 1 << 18;
    if (!small) return;
    for (const KernelPath path : {KernelPath::kRowTiled, KernelPath::kSingleRow}) {
      NormSpec spec = spec_;
      spec.path = path;
      Plain("forced path", spec, Placed(operands_), MemoryKind::kDevice);
    }
    Plain("staging memory", spec_, Placed(operands_), MemoryKind::kStaging);
    PlacedSegment shifted = Placed(operands_);
    for (size_t i = 0; i < kSlots; ++i) {
      shifted.placements[i].offset_bytes = SizeOf(ShapeOf(SlotAt(i), spec_, 1).dtype);
      shifted.placements[i].row_padding = 3;
    }
    Plain("shifted by an element, padded rows", spec_, shifted, MemoryKind::kDevice);
    PlacedSegment at_end = Placed(operands_);
    for (Placement& placement : at_end.placements) placement.at_end = true;
    Plain("at the end of the allocation", spec_, at_end, MemoryKind::kDevice);
    if (!case_.backward()) return;
    NormSpec wide = spec_;
    wide.dweight_dtype = wide.dbias_dtype = DataType::kFloat32;
    Plain("gradients in float32", wide, Placed(operands_), MemoryKind::kDevice);
    WithSavedStatistics();
  }

  void WithSavedStatistics() {
    NormSpec forward = spec_;
    forward.direction = Direction::kForward;
    forward.want_dx = forward.want_dz = forward.want_dweight = forward.want_dbias = false;
    forward.want_rstd = true;
    forward.want_mean = forward.kind == NormKind::kLayerNorm;
    const auto outcome = SharedLauncher().Run(forward, {Placed(operands_)}, MemoryKind::kDevice);
    if (!outcome.ok()) return faults_.push_back(outcome.status().ToString());
    const auto values = [&](Slot slot) {
      const SlotBytes& bytes = outcome->segments.front().outputs[IndexOf(slot)];
      std::vector<double> all;
      for (int64_t i = 0; i < bytes.size(); ++i) all.push_back(bytes.at(i));
      return all;
    };
    NormSpec spec = spec_;
    spec.has_statistics = true;
    PlacedSegment segment = Placed(operands_);
    segment.operands.mean = values(Slot::kMeanOut);
    segment.operands.rstd = values(Slot::kRstdOut);
    const auto backward = SharedLauncher().Run(spec, {segment}, MemoryKind::kDevice);
    if (!backward.ok()) return faults_.push_back(backward.status().ToString());
    const SegmentOutcome& got = backward->segments.front();
    Append("saved statistics", ExpectedFaults(case_, got), faults_);
    Append("saved statistics",
           FaultsOf(spec, segment.operands, normd::RunOracle(spec, segment.operands), got),
           faults_);
  }

  void AfterAnotherEps() {
    PlacedSegment other = Placed(operands_);
    other.operands.eps = 1e-5F;
    const auto first = SharedLauncher().Run(spec_, {other}, MemoryKind::kDevice);
    if (!first.ok()) faults_.push_back(first.status().ToString());
    Plain("after a call with eps 1e-5", spec_, Placed(operands_), MemoryKind::kDevice);
  }

  // The rest of the buffer holds 0, then -42, then NaN.
  void AmongPoison() {
    const SegmentOutcome first = Plain("plain", spec_, Placed(operands_), MemoryKind::kDevice);
    const auto minus_42 = Encode(DataType::kFloat32, -42);
    for (const uint32_t filler : {uint32_t{0}, minus_42, uint32_t{0x7FC00000}}) {
      PlacedSegment segment = Placed(operands_);
      for (Placement& placement : segment.placements) {
        placement.filler = filler;
        placement.row_padding = 64;
      }
      const std::string what = absl::StrCat("among ", absl::Hex(filler));
      ExpectSame(what, first, Plain(what, spec_, segment, MemoryKind::kDevice));
    }
  }

  void Repeats() {
    const int repeats =
        std::min(case_.params.at("repeat").get<int>(), std::max(2, Options().repeats * 10));
    Launcher& launcher = SharedLauncher();
    auto launch = launcher.Place(spec_, {Placed(operands_)}, MemoryKind::kDevice);
    if (!launch.ok()) return faults_.push_back(launch.status().ToString());
    SegmentOutcome first;
    for (int i = 0; i < repeats && faults_.empty(); ++i) {
      const auto info = launcher.Run(*launch);
      if (!info.ok()) return faults_.push_back(info.status().ToString());
      auto outcomes = launcher.ReadBack(*launch);
      if (!outcomes.ok()) return faults_.push_back(outcomes.status().ToString());
      if (i == 0) first = outcomes->front();
      ExpectSame(absl::StrCat("run ", i), first, outcomes->front());
    }
  }

  // A row's bits do not depend on how many rows are beside it.
  void PrefixesOfRows() {
    const SegmentOutcome all = Plain("all rows", spec_, Placed(operands_), MemoryKind::kDevice);
    for (const int64_t rows : case_.params.at("compare_rows").get<std::vector<int64_t>>()) {
      const Operands part = MakeOperands(case_, spec_, rows);
      const auto outcome = SharedLauncher().Run(spec_, {Placed(part)}, MemoryKind::kDevice);
      if (!outcome.ok()) return faults_.push_back(outcome.status().ToString());
      for (size_t i = 0; i < kSlots; ++i) {
        const std::vector<std::byte>& got = outcome->segments.front().outputs[i].bytes;
        if (std::equal(got.begin(), got.end(), all.outputs[i].bytes.begin())) continue;
        faults_.push_back(absl::StrCat(rows, " rows: ", Name(SlotAt(i)), ": other bits"));
      }
    }
  }

  // Row (token, head) at token * token_stride + head * head_stride: one segment a head, whose rows
  // are token_stride apart; and one a token, whose rows are head_stride apart.
  void TwoStrides() {
    const auto shape = case_.params.at("base_shape").get<std::vector<int64_t>>();
    const int64_t tokens = shape[0];
    const int64_t heads = shape[1];
    const auto run = [&](bool by_head, int64_t stride) {
      std::vector<PlacedSegment> segments(static_cast<size_t>(by_head ? heads : tokens));
      for (size_t s = 0; s < segments.size(); ++s) {
        Operands& in = segments[s].operands;
        in.rows = by_head ? tokens : heads;
        in.eps = operands_.eps;
        for (int64_t row = 0; row < in.rows; ++row) {
          const auto other = static_cast<int64_t>(s);
          const int64_t logical = by_head ? row * heads + other : other * heads + row;
          const auto first = operands_.x.begin() + logical * case_.columns;
          in.x.insert(in.x.end(), first, first + case_.columns);
        }
        segments[s].placements[IndexOf(Slot::kX)].row_padding = stride - case_.columns;
      }
      const auto outcome = SharedLauncher().Run(spec_, segments, MemoryKind::kDevice);
      if (!outcome.ok()) return faults_.push_back(outcome.status().ToString());
      for (size_t s = 0; s < segments.size(); ++s) {
        const Operands& in = segments[s].operands;
        Append(absl::StrCat("segment ", s, by_head ? " by head" : " by token"),
               FaultsOf(spec_, in, normd::RunOracle(spec_, in), outcome->segments[s]), faults_);
      }
    };
    run(true, case_.params.at("token_stride"));
    run(false, case_.params.at("head_stride"));
  }

  // Validation must refuse the segment that `spoil` makes, naming the field.
  void Refused(const std::string& field, const std::function<void(Segment&)>& spoil) {
    // Validation looks at addresses only; nothing here is read.
    Segment segment;
    segment.rows = case_.rows;
    segment.eps = operands_.eps;
    for (size_t i = 0; i < kSlots; ++i) {
      const SlotShape shape = ShapeOf(SlotAt(i), spec_, case_.rows);
      if (!shape.present) continue;
      const auto address = static_cast<uintptr_t>((i + 1) << 24);
      SetSlot(SlotAt(i), reinterpret_cast<void*>(address), shape.columns, segment);
    }
    if (absl::Status status = Validate(spec_, segment); !status.ok()) {
      faults_.push_back(absl::StrCat("refused as it should not be: ", status.ToString()));
    }
    spoil(segment);
    ExpectFieldError(Validate(spec_, segment), field);
  }

  void ExpectFieldError(const absl::Status& status, const std::string& field) {
    if (status.code() == absl::StatusCode::kInvalidArgument && FieldOf(status) == field) return;
    faults_.push_back(absl::StrCat("not refused with ", field, ": ", status.ToString()));
  }

  // Every choice of dx, dweight and dbias: the same dx, the others absent.
  void EveryMask() {
    const SegmentOutcome all = Plain("all", spec_, Placed(operands_), MemoryKind::kDevice);
    for (int mask = 0; mask < 8; ++mask) {
      NormSpec spec = spec_;
      spec.want_dx = (mask & 1) != 0;
      spec.want_dweight = (mask & 2) != 0;
      spec.want_dbias = (mask & 4) != 0;
      if (mask == 0) {
        ExpectFieldError(Validate(spec), "dx");
        continue;
      }
      const auto outcome = SharedLauncher().Run(spec, {Placed(operands_)}, MemoryKind::kDevice);
      if (!outcome.ok()) return faults_.push_back(outcome.status().ToString());
      const SegmentOutcome& got = outcome->segments.front();
      Append(absl::StrCat("mask ", mask), FaultsOf(spec, operands_, right_, got), faults_);
      for (const Slot slot : {Slot::kDx, Slot::kDweight, Slot::kDbias}) {
        const SlotBytes& bytes = got.outputs[IndexOf(slot)];
        const bool wanted = ShapeOf(slot, spec, case_.rows).present;
        if (wanted ? bytes == all.outputs[IndexOf(slot)] : bytes.bytes.empty()) continue;
        faults_.push_back(absl::StrCat("mask ", mask, ": ", Name(slot), ": other bits"));
      }
    }
  }

  // dx on dy is right; dx on x is refused.
  void InPlace() {
    PlacedSegment segment = Placed(operands_);
    segment.in_place = true;
    Plain("dx on dy", spec_, segment, MemoryKind::kDevice);
    Refused("dx", [](Segment& s) { s.dx.data = const_cast<void*>(s.x.data); });
  }

  void BiasGradientRefused() {
    NormSpec spec = spec_;
    spec.want_dbias = true;
    ExpectFieldError(Validate(spec), "dbias");
  }

  // Gradients overwrite what was in their buffers, the first time and the second.
  void PrefilledGradients() {
    PlacedSegment segment = Placed(operands_);
    for (Placement& placement : segment.placements) placement.prefill = 1e6;
    Launcher& launcher = SharedLauncher();
    auto launch = launcher.Place(spec_, {segment}, MemoryKind::kDevice);
    if (!launch.ok()) return faults_.push_back(launch.status().ToString());
    for (int i = 0; i < 2; ++i) {
      const auto info = launcher.Run(*launch);
      if (!info.ok()) return faults_.push_back(info.status().ToString());
      const auto outcomes = launcher.ReadBack(*launch);
      if (!outcomes.ok()) return faults_.push_back(outcomes.status().ToString());
      Check(absl::StrCat("prefilled, run ", i), spec_, outcomes->front());
    }
  }

  void OnAnotherDevice() {
    const auto backend = AnotherBackend(case_.params.at("device_index"));
    if (!backend.ok()) return faults_.push_back(backend.status().ToString());
    Launcher launcher(**backend);
    const auto outcome = launcher.Run(spec_, {Placed(operands_)}, MemoryKind::kDevice);
    if (!outcome.ok()) return faults_.push_back(outcome.status().ToString());
    Check("another device", spec_, outcome->segments.front());
  }

  // A stride that 32 bits do not hold, over one row.
  void LongStride() {
    PlacedSegment segment = Placed(operands_);
    const auto stride = case_.params.at("row_stride").get<int64_t>();
    for (Placement& placement : segment.placements) {
      placement.row_padding = stride - case_.columns;
    }
    Plain("a stride beyond 32 bits", spec_, segment, MemoryKind::kDevice);
  }

  // Rows without NaN and infinities have the bits that they have when the others are not there.
  void WithoutSpecialRows() {
    const SegmentOutcome all = Plain("all rows", spec_, Placed(operands_), MemoryKind::kDevice);
    Operands rest = operands_;
    rest.rows = 0;
    rest.x.clear();
    rest.dy.clear();
    std::vector<int64_t> kept;
    for (int64_t row = 0; row < case_.rows; ++row) {
      const auto first = operands_.x.begin() + row * case_.columns;
      const bool finite =
          std::all_of(first, first + case_.columns, [](double x) { return x - x == 0; });
      if (!finite) continue;
      kept.push_back(row);
      ++rest.rows;
      rest.x.insert(rest.x.end(), first, first + case_.columns);
      if (!case_.backward()) continue;
      const auto dy = operands_.dy.begin() + row * case_.columns;
      rest.dy.insert(rest.dy.end(), dy, dy + case_.columns);
    }
    const auto outcome = SharedLauncher().Run(spec_, {Placed(rest)}, MemoryKind::kDevice);
    if (!outcome.ok()) return faults_.push_back(outcome.status().ToString());
    const size_t slot = IndexOf(case_.backward() ? Slot::kDx : Slot::kY);
    const SlotBytes& alone = outcome->segments.front().outputs[slot];
    const int64_t row_bytes = case_.columns * SizeOf(alone.dtype);
    for (size_t i = 0; i < kept.size(); ++i) {
      const auto first = alone.bytes.begin() + static_cast<int64_t>(i) * row_bytes;
      if (std::equal(first, first + row_bytes,
                     all.outputs[slot].bytes.begin() + kept[i] * row_bytes)) {
        continue;
      }
      faults_.push_back(absl::StrCat("row ", kept[i], ": other bits beside special rows"));
    }
  }

  const NormCase& case_;
  const NormSpec spec_;
  const Operands operands_;
  const Results right_;
  Faults faults_;
};

}  // namespace

std::vector<std::string> RunCase(const NormCase& norm_case) {
  if (MustBeRefused(norm_case)) return RefusalFaults(norm_case);
  return CaseRun(norm_case).Run();
}

}  // namespace normd
