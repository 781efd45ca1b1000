#include "tests/bench/kernel/point.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace normd {
namespace {

GateActivation ActivationOf(Gate gate) {
  switch (gate) {
    case Gate::kNone:
      return GateActivation::kNone;
    case Gate::kSilu:
    case Gate::kSiluBefore:
      return GateActivation::kSilu;
    case Gate::kSigmoid:
    case Gate::kSigmoidBefore:
      return GateActivation::kSigmoid;
  }
  return GateActivation::kNone;
}

GateOrder OrderOf(Gate gate) {
  switch (gate) {
    case Gate::kNone:
      return GateOrder::kNone;
    case Gate::kSilu:
    case Gate::kSigmoid:
      return GateOrder::kNormThenGate;
    case Gate::kSiluBefore:
    case Gate::kSigmoidBefore:
      return GateOrder::kGateThenNorm;
  }
  return GateOrder::kNone;
}

// Calls visit(values, member) for every axis.
template <typename Visit>
void ForEachAxis(const Axes& axes, Visit visit) {
  visit(axes.op, &Point::op);
  visit(axes.direction, &Point::direction);
  visit(axes.dtype, &Point::dtype);
  visit(axes.width, &Point::width);
  visit(axes.rows, &Point::rows);
  visit(axes.gate, &Point::gate);
  visit(axes.group, &Point::group);
  visit(axes.residual, &Point::residual);
  visit(axes.statistics, &Point::statistics);
  visit(axes.parameters, &Point::parameters);
  visit(axes.path, &Point::path);
  visit(axes.segments, &Point::segments);
  visit(axes.timing, &Point::timing);
}

bool IsValid(const Point& point) {
  return point.rows >= 1 && point.segments >= 1 && point.rows % point.segments == 0 &&
         Validate(SpecOf(point)).ok();
}

}  // namespace

NormSpec SpecOf(const Point& point) {
  NormSpec spec;
  const bool forward = point.direction == Direction::kForward;
  const bool layer_norm = point.op == NormKind::kLayerNorm;
  spec.direction = point.direction;
  spec.kind = point.op;
  spec.gate = ActivationOf(point.gate);
  spec.gate_order = OrderOf(point.gate);
  spec.path = point.path;
  spec.width = point.width;
  spec.group = point.group == 0 ? point.width : point.group;
  spec.dtype = spec.z_dtype = spec.dy_dtype = point.dtype;
  const DataType parameter_dtype =
      point.parameters == Parameters::kFloat32 ? DataType::kFloat32 : point.dtype;
  spec.weight_dtype = spec.bias_dtype = parameter_dtype;
  spec.dweight_dtype = spec.dbias_dtype = parameter_dtype;
  spec.has_weight = point.parameters != Parameters::kNone;
  spec.has_bias = spec.has_weight && layer_norm;
  spec.has_residual = point.residual;
  if (forward) {
    spec.want_y = true;
    spec.want_residual_out = point.residual;
    spec.want_mean = point.statistics && layer_norm;
    spec.want_rstd = point.statistics;
    return spec;
  }
  spec.has_statistics = point.statistics;
  spec.has_dresidual_out = point.residual;
  spec.want_dx = true;
  spec.want_dz = spec.has_gate();
  spec.want_dweight = spec.has_weight;
  spec.want_dbias = spec.has_bias;
  return spec;
}

std::string OpLabel(const Point& point, Timing timed) {
  return absl::StrCat(OpName(SpecOf(point)), ".", Name(point.direction),
                      timed == Timing::kGraph ? ".graph" : "");
}

const char* Name(Gate gate) {
  switch (gate) {
    case Gate::kNone:
      return "none";
    case Gate::kSilu:
      return "silu";
    case Gate::kSigmoid:
      return "sigmoid";
    case Gate::kSiluBefore:
      return "silu_before";
    case Gate::kSigmoidBefore:
      return "sigmoid_before";
  }
  return "";
}

const char* Name(Parameters parameters) {
  switch (parameters) {
    case Parameters::kSame:
      return "same";
    case Parameters::kFloat32:
      return "float32";
    case Parameters::kNone:
      return "none";
  }
  return "";
}

const char* Name(KernelPath path) {
  switch (path) {
    case KernelPath::kAuto:
      return "auto";
    case KernelPath::kRowTiled:
      return "row_tiled";
    case KernelPath::kSingleRow:
      return "single_row";
  }
  return "";
}

const char* Name(Timing timing) { return timing == Timing::kEvents ? "events" : "graph"; }

std::vector<Point> Cross(const Point& base, const Axes& axes) {
  std::vector<Point> points = {base};
  ForEachAxis(axes, [&points](const auto& values, auto member) {
    if (values.empty()) return;
    std::vector<Point> expanded;
    for (const Point& point : points) {
      for (const auto value : values) {
        expanded.push_back(point);
        expanded.back().*member = value;
      }
    }
    points = std::move(expanded);
  });
  std::vector<Point> distinct;
  for (Point& point : points) {
    if (point.group == point.width) point.group = 0;
    const bool known = std::find(distinct.begin(), distinct.end(), point) != distinct.end();
    if (IsValid(point) && !known) distinct.push_back(point);
  }
  return distinct;
}

std::vector<Point> Keep(const std::vector<Point>& points, const Axes& axes) {
  std::vector<Point> kept = points;
  ForEachAxis(axes, [&kept](const auto& values, auto member) {
    if (values.empty()) return;
    std::erase_if(kept, [&](const Point& point) {
      return std::find(values.begin(), values.end(), point.*member) == values.end();
    });
  });
  return kept;
}

}  // namespace normd
