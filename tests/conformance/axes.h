// Axes of the conformance suite: every option of an op and every property of its operands, as small
// numbers, and a set of points that holds every pair of values that can occur together.
//
// A point is one value an axis. Options that exclude each other (a residual with GATE_THEN_NORM) or
// mean nothing (dy's dtype in forward) are brought to one form, so that a label says what ran.
#ifndef NORMD_TESTS_CONFORMANCE_AXES_H_
#define NORMD_TESTS_CONFORMANCE_AXES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace normd {

enum class Axis : uint8_t {
  kDirection,   // forward, backward
  kKind,        // LayerNorm, RMSNorm
  kGate,        // none, SiLU after, SiLU before, sigmoid after, sigmoid before
  kDtype,       // of x: DataType
  kZDtype,      // DataType
  kDyDtype,     // DataType
  kWeight,      // absent, or DataType + 1
  kBias,        // absent, or DataType + 1
  kDparameter,  // dtype of dweight and dbias: the parameter's, float32
  kWidth,       // index into Widths()
  kGroup,       // whole row, 1, smallest divisor, middle divisor, largest divisor
  kRows,        // index into RowCounts()
  kOffset,      // weight offset 0, 1
  kRounding,    // round_before_weight off, on
  kResidual,    // none, fused, fused with a gradient at residual_out
  kStatistics,  // recomputed, saved, saved by somebody else (other values)
  kWanted,      // all outputs, the main one, a random choice
  kPath,        // KernelPath
  kValues,      // Values
  kAlignment,   // Alignment
  kStrides,     // contiguous, one padding for all, one of its own for each
  kMemory,      // MemoryKind
  kInPlace,     // no, yes
  kEps,         // index into EpsValues()
};

inline constexpr size_t kAxes = 24;

// What the elements are.
enum class Values : uint8_t {
  kPlain,
  kFarMean,    // the mean is many times the spread
  kWideRange,  // magnitudes from 2^-8 to 2^8 in one row
  kConstantRows,
  kHuge,  // squares overflow fp32 (fp16: near its largest)
  kSubnormal,
  kNanRows,        // NaN and infinities in every third row
  kSaturatedGate,  // |z| up to 100 and beyond
  kZeroRows,
  kSpike,      // one element a row
  kRowScales,  // rows of very different magnitude side by side
};

inline constexpr int kValueProfiles = 11;

enum class Alignment : uint8_t { k256, kElement, k8, k16, kEnd };

inline constexpr int kAlignments = 5;

using Point = std::array<int, kAxes>;

constexpr int Get(const Point& point, Axis axis) { return point[static_cast<size_t>(axis)]; }
constexpr void Set(Point& point, Axis axis, int value) { point[static_cast<size_t>(axis)] = value; }

// Width 1, odd, prime, powers of two, their neighbours, wide.
const std::vector<int64_t>& Widths();
const std::vector<int64_t>& RowCounts();
const std::vector<float>& EpsValues();

int64_t WidthOf(const Point& point);
int64_t RowsOf(const Point& point);
float EpsOf(const Point& point);

// Columns a group for the value of kGroup; the whole row where the width has no such divisor.
int64_t GroupOf(int64_t width, int choice);

// A random point in its one form. max_elements bounds rows x width (narrow rows may have 4 times
// that).
Point RandomPoint(uint64_t seed, int64_t max_elements);

// Pairs of values of two axes.
class PairSet {
 public:
  PairSet() : held_(kAxes * kAxes * kMaxValues * kMaxValues) {}

  // Adds the pairs of a point; how many were new.
  int Add(const Point& point);
  int CountNew(const Point& point) const;
  // Pairs of this set that `other` lacks, as "axis 9 value 3 with axis 11 value 0".
  std::vector<std::string> Without(const PairSet& other) const;

 private:
  static constexpr size_t kMaxValues = 40;
  static size_t IndexOf(size_t a, int a_value, size_t b, int b_value) {
    return ((a * kAxes + b) * kMaxValues + static_cast<size_t>(a_value)) * kMaxValues +
           static_cast<size_t>(b_value);
  }

  std::vector<bool> held_;
};

// The seed of the points of the suite.
inline constexpr uint64_t kPointSeed = 20240607;

// `count` points, each the one of several random candidates that adds the most new pairs.
std::vector<Point> CoveringPoints(int count, uint64_t seed, int64_t max_elements);

// "fwd_layer_norm_silu_after_bf16_w257_r33_...", valid as a test name.
std::string Label(const Point& point);

}  // namespace normd

#endif  // NORMD_TESTS_CONFORMANCE_AXES_H_
