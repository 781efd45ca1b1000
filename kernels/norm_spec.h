// NormSpec: everything about an op that decides which kernel runs, and nothing that varies from
// request to request in one launch (pointers, rows, strides, eps: see segment.h).
//
// It is the batching key, the metrics label, and what validation, tests and benches speak of.
#ifndef NORMD_KERNELS_NORM_SPEC_H_
#define NORMD_KERNELS_NORM_SPEC_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "kernels/data_type.h"

namespace normd {

enum class Direction : uint8_t { kForward, kBackward };
enum class NormKind : uint8_t { kLayerNorm, kRmsNorm };
// a(z): z * sigmoid(z) or sigmoid(z).
enum class GateActivation : uint8_t { kNone, kSilu, kSigmoid };
// NORM_THEN_GATE: y = u * a(z); GATE_THEN_NORM: t = x * a(z). kNone exactly when the activation is.
enum class GateOrder : uint8_t { kNone, kNormThenGate, kGateThenNorm };
// kRowTiled and kSingleRow force a kernel family, to compare them; a backend that has one family
// accepts all three.
enum class KernelPath : uint8_t { kAuto, kRowTiled, kSingleRow };

// Columns a row may have.
inline constexpr int64_t kMaxWidth = int64_t{1} << 24;

struct NormSpec {
  Direction direction = Direction::kForward;
  NormKind kind = NormKind::kLayerNorm;
  GateActivation gate = GateActivation::kNone;
  GateOrder gate_order = GateOrder::kNone;
  KernelPath path = KernelPath::kAuto;

  int64_t width = 0;  // columns, 1 to kMaxWidth
  int64_t group = 0;  // columns a group, divides width; always resolved, never 0

  // x, y, dx, residual, residual_out, dresidual, dresidual_out.
  DataType dtype = DataType::kFloat32;
  DataType z_dtype = DataType::kFloat32;        // z, dz
  DataType dy_dtype = DataType::kFloat32;       // dy
  DataType weight_dtype = DataType::kFloat32;   // weight
  DataType bias_dtype = DataType::kFloat32;     // bias
  DataType dweight_dtype = DataType::kFloat32;  // dweight: weight_dtype or float32
  DataType dbias_dtype = DataType::kFloat32;    // dbias: bias_dtype or float32

  bool has_weight = false;
  bool has_bias = false;
  // Forward: t = x + residual. Backward: x is residual_out; dresidual may be wanted and
  // dresidual_out may be given.
  bool has_residual = false;
  bool has_dresidual_out = false;  // backward
  bool has_statistics = false;     // backward: mean (LayerNorm) and rstd are given

  float weight_offset = 0;           // added to the weight in fp32; ignored without a weight
  bool round_before_weight = false;  // h is rounded to dtype before the weight

  // Outputs wanted.
  bool want_y = false;
  bool want_mean = false;
  bool want_rstd = false;
  bool want_residual_out = false;
  bool want_dx = false;
  bool want_dz = false;
  bool want_dweight = false;
  bool want_dbias = false;
  bool want_dresidual = false;

  int64_t groups() const { return width / group; }
  bool has_gate() const { return gate != GateActivation::kNone; }

  bool operator==(const NormSpec&) const = default;

  template <typename H>
  friend H AbslHashValue(H h, const NormSpec& s) {
    return H::combine(std::move(h), s.direction, s.kind, s.gate, s.gate_order, s.path, s.width,
                      s.group, s.dtype, s.z_dtype, s.dy_dtype, s.weight_dtype, s.bias_dtype,
                      s.dweight_dtype, s.dbias_dtype, s.has_weight, s.has_bias, s.has_residual,
                      s.has_dresidual_out, s.has_statistics, s.weight_offset, s.round_before_weight,
                      s.want_y, s.want_mean, s.want_rstd, s.want_residual_out, s.want_dx, s.want_dz,
                      s.want_dweight, s.want_dbias, s.want_dresidual);
  }
};

// OK, or a FieldError that names the first field that is wrong. Fields have their wire names:
// "op.group_size", "op.gate_order", "x.shape", "dbias".
absl::Status Validate(const NormSpec& spec);

// Bytes that the op must move for `rows` rows: each input read once, each wanted output written
// once, parameters once. The numerator of every bandwidth that normd prints.
int64_t BytesMoved(const NormSpec& spec, int64_t rows);

// "layer_norm", "rms_norm", "gated_layer_norm", "gated_rms_norm": the `op` label of metrics.
const char* OpName(const NormSpec& spec);

// "forward", "backward".
const char* Name(Direction direction);

}  // namespace normd

#endif  // NORMD_KERNELS_NORM_SPEC_H_
