// Segment: one request's rows inside a launch. A launch runs many segments of one NormSpec, each
// with its own pointers, strides, rows, parameters and eps.
//
// Pointers are addresses that the backend's device can reach (device or staging memory). The
// memory is the caller's and must live until the launch has completed.
#ifndef NORMD_KERNELS_SEGMENT_H_
#define NORMD_KERNELS_SEGMENT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/norm_spec.h"

namespace normd {

// A [rows, width] matrix: unit stride inside a row, `row_stride` elements from row to row.
struct ConstRows {
  const void* data = nullptr;
  int64_t row_stride = 0;
};

struct MutableRows {
  void* data = nullptr;
  int64_t row_stride = 0;
};

struct Segment {
  int64_t rows = 0;  // >= 0
  float eps = 0;     // finite, >= 0; inside the root

  // Inputs. Those that the spec does not have are null and never read.
  ConstRows x;
  ConstRows z;
  ConstRows residual;            // forward
  ConstRows dy;                  // backward
  ConstRows dresidual_out;       // backward
  const void* weight = nullptr;  // [width]
  const void* bias = nullptr;    // [width]
  const float* mean = nullptr;   // backward, LayerNorm: [rows, groups], contiguous
  const float* rstd = nullptr;   // backward: [rows, groups], contiguous

  // Outputs. Those that the spec does not want are null and never written.
  MutableRows y;
  MutableRows residual_out;
  float* mean_out = nullptr;  // [rows, groups], contiguous
  float* rstd_out = nullptr;  // [rows, groups], contiguous
  MutableRows dx;
  MutableRows dz;
  MutableRows dresidual;
  void* dweight = nullptr;  // [width]
  void* dbias = nullptr;    // [width]
};

// OK, or a FieldError: eps not finite or negative, rows negative, a pointer that the spec needs
// and the segment lacks, an address that is not a multiple of its element size, a row stride under
// the width (rows > 1), a product that overflows 64 bits, or an output that overlaps an input or
// another output. Allowed overlaps: y exactly on x, dx exactly on dy (same address, row stride and
// dtype). Matrices of one row pitch in bytes that lie beside each other, as columns of one larger
// matrix, do not overlap; other interleaved ones count as overlapping.
// REQUIRES: Validate(spec).ok()
absl::Status Validate(const NormSpec& spec, const Segment& segment);

}  // namespace normd

#endif  // NORMD_KERNELS_SEGMENT_H_
