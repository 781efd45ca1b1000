// What a call of the C++ client takes and gives. Names are those of the wire (norm.proto), so that
// an error about "op.eps" or "dweight" speaks of a member here. Formulas: kernels/README.md.
#ifndef NORMD_CLIENT_CPP_CALLS_H_
#define NORMD_CLIENT_CPP_CALLS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "client/cpp/tensor.h"
#include "kernels/data_type.h"
#include "kernels/norm_spec.h"

namespace normd {

// The op, apart from its kind and operands.
struct NormOptions {
  std::optional<float> eps;  // required; finite, >= 0
  int64_t group_size = 0;    // columns a group, divides the width; 0: the whole row
  GateActivation gate_activation = GateActivation::kNone;  // of z
  GateOrder gate_order = GateOrder::kNone;                 // required with z
  float weight_offset = 0;                                 // added to the weight in fp32
  bool round_before_weight = false;     // round the normalised value to the dtype of x first
  KernelPath path = KernelPath::kAuto;  // forces a kernel family, to compare them
};

// y = norm(x) * (weight + offset) + bias, with the gate z and the residual when given.
struct ForwardCall {
  NormOptions op;

  Operand x;                        // [..., width]
  std::optional<Operand> z;         // gate: rows and width of x
  std::optional<Operand> weight;    // [width]; absent: factor 1
  std::optional<Operand> bias;      // [width]; absent: 0
  std::optional<Operand> residual;  // shape and dtype of x, added before the norm

  Output y = Output::Owned();  // shape and dtype of x
  Output mean;                 // float32 [rows, groups]; LayerNorm
  Output rstd;                 // float32 [rows, groups]
  Output residual_out;         // x + residual, in the dtype of x
};

// The gradients of the same op.
struct BackwardCall {
  NormOptions op;

  Operand x;   // the x of the forward call; with a residual, its residual_out
  Operand dy;  // gradient of y: rows and width of x
  std::optional<Operand> z;
  std::optional<Operand> weight;
  std::optional<Operand> bias;
  std::optional<Operand> mean;           // saved statistics, float32; absent: computed again
  std::optional<Operand> rstd;           // with mean for LayerNorm
  std::optional<Operand> dresidual_out;  // gradient that arrives at residual_out

  Output dx = Output::Owned();  // shape and dtype of x
  Output dz;                    // shape and dtype of z
  Output dweight;               // [width]
  Output dbias;                 // [width]
  Output dresidual;             // the values of dx

  // Of dweight and dbias; absent: the dtype of the parameter. kFloat32: unrounded sums.
  std::optional<DataType> parameter_gradient_dtype;
};

// How the server ran an op. Durations are the server's own.
struct Execution {
  absl::Duration decode;
  absl::Duration queue;
  absl::Duration kernel;  // from the launch to the completion of the batch
  absl::Duration encode;
  absl::Duration total;  // from the arrival of the request to the hand-over of the reply
  int64_t batch_rows = 0;
  int64_t batch_requests = 0;
  std::string device;  // "cpu", "cuda:0"
  std::string kernel_name;
};

// The outputs that were wanted; others are absent.
struct ForwardResult {
  std::optional<Tensor> y;
  std::optional<Tensor> mean;
  std::optional<Tensor> rstd;
  std::optional<Tensor> residual_out;
  Execution execution;
};

struct BackwardResult {
  std::optional<Tensor> dx;
  std::optional<Tensor> dz;
  std::optional<Tensor> dweight;
  std::optional<Tensor> dbias;
  std::optional<Tensor> dresidual;
  Execution execution;
};

}  // namespace normd

#endif  // NORMD_CLIENT_CPP_CALLS_H_
