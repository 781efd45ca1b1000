#include "kernels/segment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kernels/field_error.h"

namespace normd {
namespace {

// One operand as it lies in memory.
struct Operand {
  const char* field;
  bool present;  // the spec has it
  bool output;
  const void* data;
  int64_t row_stride;  // elements
  int64_t rows;
  int64_t columns;
  int64_t element_bytes;
};

// x, z, residual, dy, dresidual_out, weight, bias, mean, rstd, then the nine outputs.
using Operands = std::array<Operand, 18>;

Operands OperandsOf(const NormSpec& spec, const Segment& s) {
  const bool forward = spec.direction == Direction::kForward;
  const int64_t rows = s.rows;
  const int64_t width = spec.width;
  const int64_t groups = spec.groups();
  const int64_t x_bytes = SizeOf(spec.dtype);
  const int64_t z_bytes = SizeOf(spec.z_dtype);
  const auto matrix = [&](const char* field, bool present, const auto& view, int64_t bytes,
                          bool output) {
    return Operand{field, present, output, view.data, view.row_stride, rows, width, bytes};
  };
  const auto vector = [&](const char* field, bool present, const void* data, int64_t bytes,
                          bool output) {
    return Operand{field, present, output, data, width, 1, width, bytes};
  };
  const auto statistic = [&](const char* field, bool present, const float* data, bool output) {
    return Operand{field, present, output, data, groups, rows, groups, 4};
  };
  const bool saved_mean = spec.has_statistics && spec.kind == NormKind::kLayerNorm;
  return {
      matrix("x", true, s.x, x_bytes, false),
      matrix("z", spec.has_gate(), s.z, z_bytes, false),
      matrix("residual", forward && spec.has_residual, s.residual, x_bytes, false),
      matrix("dy", !forward, s.dy, SizeOf(spec.dy_dtype), false),
      matrix("dresidual_out", spec.has_dresidual_out, s.dresidual_out, x_bytes, false),
      vector("weight", spec.has_weight, s.weight, SizeOf(spec.weight_dtype), false),
      vector("bias", spec.has_bias, s.bias, SizeOf(spec.bias_dtype), false),
      statistic("mean", !forward && saved_mean, s.mean, false),
      statistic("rstd", !forward && spec.has_statistics, s.rstd, false),
      matrix("y", spec.want_y, s.y, x_bytes, true),
      matrix("residual_out", spec.want_residual_out, s.residual_out, x_bytes, true),
      statistic("mean", spec.want_mean, s.mean_out, true),
      statistic("rstd", spec.want_rstd, s.rstd_out, true),
      matrix("dx", spec.want_dx, s.dx, x_bytes, true),
      matrix("dz", spec.want_dz, s.dz, z_bytes, true),
      matrix("dresidual", spec.want_dresidual, s.dresidual, x_bytes, true),
      vector("dweight", spec.want_dweight, s.dweight, SizeOf(spec.dweight_dtype), true),
      vector("dbias", spec.want_dbias, s.dbias, SizeOf(spec.dbias_dtype), true),
  };
}

// Address range [begin, end) of an operand. False: it does not fit into 64 bits.
bool Range(const Operand& operand, uintptr_t& begin, uintptr_t& end) {
  begin = reinterpret_cast<uintptr_t>(operand.data);
  end = begin;
  if (operand.rows == 0) return true;
  int64_t elements = 0;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(operand.rows - 1, operand.row_stride, &elements)) return false;
  if (__builtin_add_overflow(elements, operand.columns, &elements)) return false;
  if (__builtin_mul_overflow(elements, operand.element_bytes, &bytes)) return false;
  return !__builtin_add_overflow(begin, static_cast<uintptr_t>(bytes), &end);
}

absl::Status ValidateOperand(const Operand& operand) {
  if (operand.rows == 0) return absl::OkStatus();
  if (operand.data == nullptr) return FieldError(operand.field, "has no data");
  if (reinterpret_cast<uintptr_t>(operand.data) % static_cast<uintptr_t>(operand.element_bytes) !=
      0) {
    return FieldError(operand.field, absl::StrCat("does not start at a multiple of ",
                                                  operand.element_bytes, " bytes"));
  }
  if (operand.rows > 1 && operand.row_stride < operand.columns) {
    return FieldError(operand.field, absl::StrCat("row stride ", operand.row_stride,
                                                  " is less than the width ", operand.columns));
  }
  uintptr_t begin = 0;
  uintptr_t end = 0;
  if (!Range(operand, begin, end)) return FieldError(operand.field, "is larger than 64 bits");
  return absl::OkStatus();
}

// Bytes from row to row; 0 for a single row, which lies within any pitch.
int64_t Pitch(const Operand& operand) {
  return operand.rows > 1 ? operand.row_stride * operand.element_bytes : 0;
}

// Whether two operands of one pitch lie beside each other, as columns of one larger matrix.
// REQUIRES: low starts at or before high
bool SideBySide(const Operand& low, const Operand& high) {
  const int64_t pitch = std::max(Pitch(low), Pitch(high));
  if (pitch == 0 || (Pitch(low) != pitch && Pitch(low) != 0) ||
      (Pitch(high) != pitch && Pitch(high) != 0)) {
    return false;
  }
  const uintptr_t distance =
      reinterpret_cast<uintptr_t>(high.data) - reinterpret_cast<uintptr_t>(low.data);
  // From the start of a row of `low` to the next start of a row of `high`.
  const auto gap = static_cast<int64_t>(distance % static_cast<uintptr_t>(pitch));
  return gap >= low.columns * low.element_bytes && gap + high.columns * high.element_bytes <= pitch;
}

bool Overlap(const Operand& a, const Operand& b) {
  uintptr_t a_begin = 0, a_end = 0, b_begin = 0, b_end = 0;
  Range(a, a_begin, a_end);
  Range(b, b_begin, b_end);
  if (a_begin >= b_end || b_begin >= a_end) return false;
  return a_begin <= b_begin ? !SideBySide(a, b) : !SideBySide(b, a);
}

bool InPlace(const Operand& output, const Operand& input) {
  const absl::string_view to = output.field;
  const absl::string_view from = input.field;
  const bool allowed = (to == "y" && from == "x") || (to == "dx" && from == "dy");
  return allowed && output.data == input.data && output.element_bytes == input.element_bytes &&
         (output.rows <= 1 || output.row_stride == input.row_stride);
}

absl::Status ValidateOverlaps(const NormSpec& spec, const Operands& operands) {
  for (const Operand& output : operands) {
    if (!output.present || !output.output) continue;
    for (const Operand& other : operands) {
      if (&other == &output || !other.present || !Overlap(output, other)) continue;
      const bool same_dtype = spec.direction == Direction::kForward || spec.dtype == spec.dy_dtype;
      if (!other.output && same_dtype && InPlace(output, other)) continue;
      return FieldError(output.field, absl::StrCat("overlaps ", other.field));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Validate(const NormSpec& spec, const Segment& segment) {
  if (!std::isfinite(segment.eps) || segment.eps < 0) {
    return FieldError("op.eps", absl::StrCat("is ", segment.eps, "; it is finite and >= 0"));
  }
  if (segment.rows < 0) return FieldError("x.shape", "has a negative number of rows");
  const Operands operands = OperandsOf(spec, segment);
  for (const Operand& operand : operands) {
    if (!operand.present) continue;
    if (absl::Status status = ValidateOperand(operand); !status.ok()) return status;
  }
  return ValidateOverlaps(spec, operands);
}

}  // namespace normd
