#include "tests/conformance/slots.h"

namespace normd {
namespace {

SlotShape Matrix(bool present, DataType dtype, const NormSpec& spec, int64_t rows) {
  return {present, dtype, rows, spec.width, true};
}

SlotShape Vector(bool present, DataType dtype, const NormSpec& spec) {
  return {present, dtype, 1, spec.width, false};
}

SlotShape Statistic(bool present, const NormSpec& spec, int64_t rows) {
  return {present, DataType::kFloat32, rows, spec.groups(), false};
}

}  // namespace

const char* Name(Slot slot) {
  static constexpr PerSlot<const char*> kNames = {
      "x",        "z",    "residual", "dy",        "dresidual_out", "weight",
      "bias",     "mean", "rstd",     "y",         "residual_out",  "mean_out",
      "rstd_out", "dx",   "dz",       "dresidual", "dweight",       "dbias"};
  return kNames[IndexOf(slot)];
}

SlotShape ShapeOf(Slot slot, const NormSpec& spec, int64_t rows) {
  const bool backward = spec.direction == Direction::kBackward;
  const bool saved = backward && spec.has_statistics;
  switch (slot) {
    case Slot::kX:
      return Matrix(true, spec.dtype, spec, rows);
    case Slot::kZ:
      return Matrix(spec.has_gate(), spec.z_dtype, spec, rows);
    case Slot::kResidual:
      return Matrix(!backward && spec.has_residual, spec.dtype, spec, rows);
    case Slot::kDy:
      return Matrix(backward, spec.dy_dtype, spec, rows);
    case Slot::kDresidualOut:
      return Matrix(spec.has_dresidual_out, spec.dtype, spec, rows);
    case Slot::kWeight:
      return Vector(spec.has_weight, spec.weight_dtype, spec);
    case Slot::kBias:
      return Vector(spec.has_bias, spec.bias_dtype, spec);
    case Slot::kMean:
      return Statistic(saved && spec.kind == NormKind::kLayerNorm, spec, rows);
    case Slot::kRstd:
      return Statistic(saved, spec, rows);
    case Slot::kY:
      return Matrix(spec.want_y, spec.dtype, spec, rows);
    case Slot::kResidualOut:
      return Matrix(spec.want_residual_out, spec.dtype, spec, rows);
    case Slot::kMeanOut:
      return Statistic(spec.want_mean, spec, rows);
    case Slot::kRstdOut:
      return Statistic(spec.want_rstd, spec, rows);
    case Slot::kDx:
      return Matrix(spec.want_dx, spec.dtype, spec, rows);
    case Slot::kDz:
      return Matrix(spec.want_dz, spec.z_dtype, spec, rows);
    case Slot::kDresidual:
      return Matrix(spec.want_dresidual, spec.dtype, spec, rows);
    case Slot::kDweight:
      return Vector(spec.want_dweight, spec.dweight_dtype, spec);
    case Slot::kDbias:
      return Vector(spec.want_dbias, spec.dbias_dtype, spec);
  }
  return {};
}

void SetSlot(Slot slot, void* data, int64_t row_stride, Segment& s) {
  switch (slot) {
    case Slot::kX:
      s.x = {data, row_stride};
      return;
    case Slot::kZ:
      s.z = {data, row_stride};
      return;
    case Slot::kResidual:
      s.residual = {data, row_stride};
      return;
    case Slot::kDy:
      s.dy = {data, row_stride};
      return;
    case Slot::kDresidualOut:
      s.dresidual_out = {data, row_stride};
      return;
    case Slot::kWeight:
      s.weight = data;
      return;
    case Slot::kBias:
      s.bias = data;
      return;
    case Slot::kMean:
      s.mean = static_cast<const float*>(data);
      return;
    case Slot::kRstd:
      s.rstd = static_cast<const float*>(data);
      return;
    case Slot::kY:
      s.y = {data, row_stride};
      return;
    case Slot::kResidualOut:
      s.residual_out = {data, row_stride};
      return;
    case Slot::kMeanOut:
      s.mean_out = static_cast<float*>(data);
      return;
    case Slot::kRstdOut:
      s.rstd_out = static_cast<float*>(data);
      return;
    case Slot::kDx:
      s.dx = {data, row_stride};
      return;
    case Slot::kDz:
      s.dz = {data, row_stride};
      return;
    case Slot::kDresidual:
      s.dresidual = {data, row_stride};
      return;
    case Slot::kDweight:
      s.dweight = data;
      return;
    case Slot::kDbias:
      s.dbias = data;
      return;
  }
}

const std::vector<double>& ValuesOf(Slot slot, const Operands& operands) {
  static const PerSlot<std::vector<double> Operands::*> kMembers = {&Operands::x,
                                                                    &Operands::z,
                                                                    &Operands::residual,
                                                                    &Operands::dy,
                                                                    &Operands::dresidual_out,
                                                                    &Operands::weight,
                                                                    &Operands::bias,
                                                                    &Operands::mean,
                                                                    &Operands::rstd};
  return operands.*kMembers[IndexOf(slot)];
}

const Reference& ReferenceOf(Slot slot, const Results& results) {
  static const std::array<Reference Results::*, 9> kMembers = {
      &Results::y,  &Results::residual_out, &Results::mean,    &Results::rstd, &Results::dx,
      &Results::dz, &Results::dresidual,    &Results::dweight, &Results::dbias};
  return results.*kMembers[IndexOf(slot) - IndexOf(Slot::kY)];
}

Slot InPlaceInput(Slot output) {
  if (output == Slot::kY) return Slot::kX;
  if (output == Slot::kDx) return Slot::kDy;
  return output;
}

}  // namespace normd
