// Point: one thing to measure, as values on the axes of the benchmark. Axes: the values that a
// command line gives. Values only; no state, no device.
#ifndef NORMD_TESTS_BENCH_KERNEL_POINT_H_
#define NORMD_TESTS_BENCH_KERNEL_POINT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/norm_spec.h"

namespace normd {

// Activation and its place in one value. The plain names gate after the norm.
enum class Gate : uint8_t { kNone, kSilu, kSigmoid, kSiluBefore, kSigmoidBefore };
// kSame: weight (and, for LayerNorm, bias) in the dtype of x. kFloat32: in fp32. kNone: neither.
enum class Parameters : uint8_t { kSame, kFloat32, kNone };
// kEvents: timed events around back-to-back launches. kGraph: replays of 100 recorded launches; a
// backend without graphs is timed by events instead.
enum class Timing : uint8_t { kEvents, kGraph };

struct Point {
  NormKind op = NormKind::kLayerNorm;
  Direction direction = Direction::kForward;
  DataType dtype = DataType::kBFloat16;
  int64_t width = 1024;
  int64_t rows = 4096;  // of all segments together
  Gate gate = Gate::kNone;
  int64_t group = 0;  // columns; 0: the whole row
  bool residual = false;
  // Forward: mean (LayerNorm) and rstd are written. Backward: they are read, not recomputed.
  bool statistics = true;
  Parameters parameters = Parameters::kSame;
  KernelPath path = KernelPath::kAuto;
  int64_t segments = 1;
  Timing timing = Timing::kEvents;
  bool rotate = true;  // among several sets of tensors while one fits into a cache

  bool operator==(const Point&) const = default;
};

// y, or dx and every parameter gradient, of the point. Not validated: a group may not divide.
NormSpec SpecOf(const Point& point);

// "layer_norm.forward", ".graph" appended when it was timed so: the names of the peers' lines.
std::string OpLabel(const Point& point, Timing timed);

const char* Name(Gate gate);
const char* Name(Parameters parameters);
const char* Name(KernelPath path);
const char* Name(Timing timing);

// Values of each axis; none: the axis was not given.
struct Axes {
  std::vector<NormKind> op = {};
  std::vector<Direction> direction = {};
  std::vector<DataType> dtype = {};
  std::vector<int64_t> width = {};
  std::vector<int64_t> rows = {};
  std::vector<Gate> gate = {};
  std::vector<int64_t> group = {};
  std::vector<bool> residual = {};
  std::vector<bool> statistics = {};
  std::vector<Parameters> parameters = {};
  std::vector<KernelPath> path = {};
  std::vector<int64_t> segments = {};
  std::vector<Timing> timing = {};
};

// Every combination of the axes over `base`, the first axis slowest. Invalid ones are left out:
// groups that do not divide the width, a residual with a gate before the norm, and rows that do
// not divide into the segments. A group as wide as the row becomes 0, and nothing comes twice.
std::vector<Point> Cross(const Point& base, const Axes& axes);

// The points whose value on every given axis is among the axis's.
std::vector<Point> Keep(const std::vector<Point>& points, const Axes& axes);

}  // namespace normd

#endif  // NORMD_TESTS_BENCH_KERNEL_POINT_H_
