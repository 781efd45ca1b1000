// RequestHeader: a ForwardRequest or BackwardRequest as it was read from the wire, before anything
// in it was judged. Enum values are plain numbers; inline bytes stay where they are.
//
// The tables say which member holds which field of which message; decoder, validator and encoder
// go by them.
#ifndef NORMD_SERVER_RPC_REQUEST_HEADER_H_
#define NORMD_SERVER_RPC_REQUEST_HEADER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "kernels/norm_spec.h"
#include "server/rpc/wire_reader.h"

namespace normd {

inline constexpr size_t kMaxRank = 8;

struct Shape {
  std::array<int64_t, kMaxRank> dimensions{};
  size_t rank = 0;

  absl::Span<const int64_t> span() const { return {dimensions.data(), rank}; }
};

struct OpHeader {
  bool present = false;
  int32_t kind = 0;
  std::optional<float> eps;
  int64_t group_size = 0;
  int32_t gate_activation = 0;
  int32_t gate_order = 0;
  float weight_offset = 0;
  bool round_before_weight = false;
  int32_t path = 0;
};

struct TensorHeader {
  bool present = false;
  int32_t dtype = 0;
  Shape shape;
  // Which storages were given; a valid tensor has one.
  bool has_inline = false;
  bool has_buffer = false;
  bool has_constant = false;
  WireBytes data;  // of inline
};

struct OutputHeader {
  bool present = false;
  int32_t dtype = 0;
  bool has_inline = false;
  bool has_buffer = false;
};

struct RequestHeader {
  Direction direction = Direction::kForward;
  OpHeader op;

  // Inputs. mean and rstd are those of backward.
  TensorHeader x, z, weight, bias, residual, dy, mean, rstd, dresidual_out;
  // Outputs.
  OutputHeader y, mean_out, rstd_out, residual_out, dx, dz, dweight, dbias, dresidual;
};

struct TensorField {
  uint32_t number;
  const char* name;
  TensorHeader RequestHeader::*member;
};

struct OutputField {
  uint32_t number;
  const char* name;
  OutputHeader RequestHeader::*member;
};

absl::Span<const TensorField> TensorFields(Direction direction);
absl::Span<const OutputField> OutputFields(Direction direction);

}  // namespace normd

#endif  // NORMD_SERVER_RPC_REQUEST_HEADER_H_
