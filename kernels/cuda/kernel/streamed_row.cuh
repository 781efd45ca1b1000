// A row that does not stay on chip: every pass reads it again, 8 columns a thread and step, in
// whatever dtype each operand has. A Source of moments.cuh.
#ifndef NORMD_KERNELS_CUDA_KERNEL_STREAMED_ROW_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_STREAMED_ROW_CUH_

#include <cstdint>

#include "kernels/cuda/kernel/gate.cuh"
#include "kernels/cuda/kernel/typed_access.cuh"
#include "kernels/cuda/kernel_shape.h"
#include "kernels/cuda/segment_table.h"

namespace normd::cuda {

inline constexpr int kRun = StreamingShape::kVector;

// kRun columns of a row at `column` of the row; the first `count` of them exist.
struct Run {
  int64_t row;
  int column;
  int count;
  bool aligned;
};

__device__ inline void LoadRun(const Input& input, DataType dtype, const Run& run,
                               float (&out)[kRun]) {
  LoadRun(input.data, dtype, run.row * input.row_stride + run.column, run.count, run.aligned, out);
}

__device__ inline void StoreRun(const Output& output, DataType dtype, const Run& run,
                                const float (&in)[kRun]) {
  StoreRun(output.data, dtype, run.row * output.row_stride + run.column, run.count, run.aligned,
           in);
}

// t of a run: x * scale, gated when the gate stands before the norm; with the residual.
template <typename Gate, typename Segment>
__device__ void LoadRunInput(const LaunchHeader& header, const Segment& segment, const Run& run,
                             float scale, float (&t)[kRun]) {
  LoadRun(segment.x, header.dtype, run, t);
  if constexpr (requires { segment.residual; }) {
    if (header.has_residual) {
      float added[kRun];
      LoadRun(segment.residual, header.dtype, run, added);
#pragma unroll
      for (int i = 0; i < kRun; ++i) t[i] = RoundTo(header.dtype, t[i] + added[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < kRun; ++i) t[i] *= scale;
  if constexpr (Gate::kBeforeNorm) {
    float gate[kRun];
    LoadRun(segment.z, header.z_dtype, run, gate);
#pragma unroll
    for (int i = 0; i < kRun; ++i) t[i] *= Activate(gate[i], header.silu).value;
  }
}

template <typename Gate, typename Segment>
class StreamedRow {
 public:
  // `rank` of `size` threads, on columns [first_column, first_column + columns) of `row`.
  __device__ StreamedRow(const LaunchHeader& header, const Segment& segment, int64_t row,
                         int first_column, int columns, int rank, int size)
      : header_(header),
        segment_(segment),
        row_(row),
        first_column_(first_column),
        columns_(columns),
        rank_(rank),
        size_(size) {}

  __device__ void SetScale(float scale) { scale_ = scale; }

  // visit(run, t) for each run of this thread.
  template <typename Visit>
  __device__ void ForEach(Visit visit) const {
    for (int64_t column = int64_t{rank_} * kRun; column < columns_;
         column += int64_t{size_} * kRun) {
      const Run run{row_, first_column_ + static_cast<int>(column),
                    min(kRun, columns_ - static_cast<int>(column)), segment_.aligned_rows};
      float t[kRun];
      LoadRunInput<Gate>(header_, segment_, run, scale_, t);
      visit(run, t);
    }
  }

  __device__ void Sum(float (&sum)[1]) {
    float part[kRun] = {};
    ForEach([&](const Run& run, const float(&t)[kRun]) {
#pragma unroll
      for (int i = 0; i < kRun; ++i) part[i] += i < run.count ? t[i] : 0.0f;
    });
    sum[0] = Join(part);
  }

  __device__ void Square(float (&sum)[1]) {
    float part[kRun] = {};
    ForEach([&](const Run& run, const float(&t)[kRun]) {
#pragma unroll
      for (int i = 0; i < kRun; ++i) {
        if (i < run.count) part[i] = __fmaf_rn(t[i], t[i], part[i]);
      }
    });
    sum[0] = Join(part);
  }

  __device__ void Center(const float (&center)[1], float (&sums)[2]) {
    float first[kRun] = {};
    float second[kRun] = {};
    ForEach([&](const Run& run, const float(&t)[kRun]) {
#pragma unroll
      for (int i = 0; i < kRun; ++i) {
        const float centered = i < run.count ? t[i] - center[0] : 0.0f;
        first[i] += centered;
        second[i] = __fmaf_rn(centered, centered, second[i]);
      }
    });
    sums[0] = Join(first);
    sums[1] = Join(second);
  }

  __device__ void Largest(float (&largest)[1]) {
    float result = 0.0f;
    ForEach([&](const Run& run, const float(&t)[kRun]) {
#pragma unroll
      for (int i = 0; i < kRun; ++i) {
        if (i < run.count) result = fmaxf(result, fabsf(t[i]));
      }
    });
    largest[0] = result;
  }

  __device__ void Pad(const float (&)[1]) {}  // passes count the columns that are there

  __device__ void Scale(const float (&scale)[1]) { scale_ = scale[0]; }

 private:
  static __device__ float Join(const float (&part)[kRun]) {
    return ((part[0] + part[1]) + (part[2] + part[3])) +
           ((part[4] + part[5]) + (part[6] + part[7]));
  }

  const LaunchHeader& header_;
  const Segment& segment_;
  int64_t row_;
  int first_column_;
  int columns_;
  int rank_;
  int size_;
  float scale_ = 1.0f;
};

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_STREAMED_ROW_CUH_
