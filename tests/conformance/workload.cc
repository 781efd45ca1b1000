#include "tests/conformance/workload.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "tests/conformance/random.h"
#include "tests/conformance/values.h"
#include "tests/oracle/element.h"
#include "tests/oracle/oracle.h"

namespace normd {
namespace {

void SetGate(int gate, NormSpec& spec) {
  if (gate == 0) return;
  spec.gate = gate <= 2 ? GateActivation::kSilu : GateActivation::kSigmoid;
  spec.gate_order = gate % 2 == 1 ? GateOrder::kNormThenGate : GateOrder::kGateThenNorm;
}

void WantAll(NormSpec& spec) {
  const bool forward = spec.direction == Direction::kForward;
  spec.want_y = spec.want_rstd = forward;
  spec.want_mean = forward && spec.kind == NormKind::kLayerNorm;
  spec.want_residual_out = forward && spec.has_residual;
  spec.want_dx = !forward;
  spec.want_dz = !forward && spec.has_gate();
  spec.want_dweight = !forward && spec.has_weight;
  spec.want_dbias = !forward && spec.has_bias;
  spec.want_dresidual = !forward && spec.has_residual;
}

void Choose(int choice, uint64_t seed, NormSpec& spec) {
  WantAll(spec);
  if (choice == 0) return;
  const NormSpec all = spec;
  Random random(seed ^ 0x5EED);
  const auto keep = [&](bool& want, bool main) {
    want = want && (choice == 1 ? main : random.Below(2) == 0);
  };
  do {
    spec = all;
    keep(spec.want_y, true);
    keep(spec.want_mean, false);
    keep(spec.want_rstd, false);
    keep(spec.want_residual_out, false);
    keep(spec.want_dx, true);
    keep(spec.want_dz, false);
    keep(spec.want_dweight, false);
    keep(spec.want_dbias, false);
    keep(spec.want_dresidual, false);
  } while (!Validate(spec).ok());
}

// Statistics that forward would have saved, or those of somebody else.
void SaveStatistics(const NormSpec& spec, bool others, Operands& operands) {
  NormSpec forward = spec;
  forward.direction = Direction::kForward;
  forward.has_residual = forward.has_dresidual_out = forward.has_statistics = false;
  const Results results = RunOracle(forward, operands);
  operands.mean = RoundedTo(DataType::kFloat32, results.mean.value);
  operands.rstd = RoundedTo(DataType::kFloat32, results.rstd.value);
  if (!others) return;
  for (double& rstd : operands.rstd) rstd = RoundTo(DataType::kFloat32, rstd * 1.25);
  for (double& mean : operands.mean) mean = RoundTo(DataType::kFloat32, mean * 1.25 + 0.5);
}

Placement PlacementOf(const Point& point, const SlotShape& shape, Random& random) {
  Placement placement;
  const int64_t element = SizeOf(shape.dtype);
  switch (static_cast<Alignment>(Get(point, Axis::kAlignment))) {
    case Alignment::k256:
      break;
    case Alignment::kElement:
      placement.offset_bytes = element * (1 + 2 * random.Below(4));
      break;
    case Alignment::k8:
      placement.offset_bytes = 8 * (1 + 2 * random.Below(2));
      break;
    case Alignment::k16:
      placement.offset_bytes = 16 * (1 + random.Below(7));
      break;
    case Alignment::kEnd:
      placement.at_end = true;
      break;
  }
  const int64_t own = 1 + random.Below(40);
  if (Get(point, Axis::kStrides) == 1) placement.row_padding = 8;
  if (Get(point, Axis::kStrides) == 2) placement.row_padding = own;
  return placement;
}

DataType ParameterType(int value) { return static_cast<DataType>(value == 0 ? 0 : value - 1); }

}  // namespace

NormSpec SpecOf(const Point& p, uint64_t seed) {
  NormSpec spec;
  spec.direction = static_cast<Direction>(Get(p, Axis::kDirection));
  spec.kind = static_cast<NormKind>(Get(p, Axis::kKind));
  SetGate(Get(p, Axis::kGate), spec);
  spec.path = static_cast<KernelPath>(Get(p, Axis::kPath));
  spec.width = WidthOf(p);
  spec.group = GroupOf(spec.width, Get(p, Axis::kGroup));
  spec.dtype = static_cast<DataType>(Get(p, Axis::kDtype));
  spec.z_dtype = static_cast<DataType>(Get(p, Axis::kZDtype));
  spec.dy_dtype = static_cast<DataType>(Get(p, Axis::kDyDtype));
  spec.has_weight = Get(p, Axis::kWeight) != 0;
  spec.has_bias = Get(p, Axis::kBias) != 0;
  spec.weight_dtype = ParameterType(Get(p, Axis::kWeight));
  spec.bias_dtype = ParameterType(Get(p, Axis::kBias));
  const bool wide = Get(p, Axis::kDparameter) == 1;
  spec.dweight_dtype = wide ? DataType::kFloat32 : spec.weight_dtype;
  spec.dbias_dtype = wide ? DataType::kFloat32 : spec.bias_dtype;
  spec.has_residual = Get(p, Axis::kResidual) != 0;
  spec.has_dresidual_out = Get(p, Axis::kResidual) == 2;
  spec.has_statistics = Get(p, Axis::kStatistics) != 0;
  spec.weight_offset = static_cast<float>(Get(p, Axis::kOffset));
  spec.round_before_weight = Get(p, Axis::kRounding) == 1;
  Choose(Get(p, Axis::kWanted), seed, spec);
  return spec;
}

PlacedSegment MakeSegment(const Point& point, const NormSpec& spec, int64_t rows, float eps,
                          uint64_t seed) {
  Random random(seed);
  const auto values = static_cast<Values>(Get(point, Axis::kValues));
  const int64_t elements = rows * spec.width;
  PlacedSegment segment;
  Operands& in = segment.operands;
  in.rows = rows;
  in.eps = eps;
  in.x = InputValues(values, spec.dtype, rows, spec.width, random);
  if (spec.has_gate()) in.z = GateValues(values, spec, rows, random);
  if (spec.has_weight) {
    const double center = 1 - spec.weight_offset;
    in.weight = PlainValues(spec.weight_dtype, spec.width, center - 0.7, center + 0.7, random);
    // Zero and negative weights are weights like others.
    for (size_t i = 3; i < in.weight.size(); i += 11) in.weight[i] = i % 2 == 0 ? 0 : -in.weight[i];
  }
  if (spec.has_bias) in.bias = PlainValues(spec.bias_dtype, spec.width, -0.5, 0.5, random);
  if (spec.direction == Direction::kForward) {
    if (spec.has_residual) in.residual = PlainValues(spec.dtype, elements, -1, 1, random);
  } else {
    in.dy = PlainValues(spec.dy_dtype, elements, -1, 1.25, random);
    if (spec.has_dresidual_out) in.dresidual_out = PlainValues(spec.dtype, elements, -1, 1, random);
    if (spec.has_statistics) SaveStatistics(spec, Get(point, Axis::kStatistics) == 2, in);
  }
  for (size_t i = 0; i < kSlots; ++i) {
    segment.placements[i] = PlacementOf(point, ShapeOf(SlotAt(i), spec, rows), random);
  }
  segment.in_place = Get(point, Axis::kInPlace) == 1;
  return segment;
}

Workload MakeWorkload(const Point& point, uint64_t seed) {
  Workload workload;
  workload.spec = SpecOf(point, seed);
  workload.segment = MakeSegment(point, workload.spec, RowsOf(point), EpsOf(point), seed);
  workload.memory = static_cast<MemoryKind>(Get(point, Axis::kMemory));
  return workload;
}

}  // namespace normd
