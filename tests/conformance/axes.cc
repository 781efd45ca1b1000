#include "tests/conformance/axes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kernels/data_type.h"
#include "tests/conformance/random.h"

namespace normd {
namespace {

int SizeOfAxis(Axis axis) {
  switch (axis) {
    case Axis::kDirection:
    case Axis::kKind:
    case Axis::kDparameter:
    case Axis::kOffset:
    case Axis::kRounding:
    case Axis::kMemory:
    case Axis::kInPlace:
      return 2;
    case Axis::kDtype:
    case Axis::kZDtype:
    case Axis::kDyDtype:
    case Axis::kResidual:
    case Axis::kStatistics:
    case Axis::kWanted:
    case Axis::kPath:
    case Axis::kStrides:
      return 3;
    case Axis::kWeight:
    case Axis::kBias:
      return 4;
    case Axis::kGate:
    case Axis::kGroup:
      return 5;
    case Axis::kAlignment:
      return kAlignments;
    case Axis::kWidth:
      return static_cast<int>(Widths().size());
    case Axis::kRows:
      return static_cast<int>(RowCounts().size());
    case Axis::kValues:
      return kValueProfiles;
    case Axis::kEps:
      return static_cast<int>(EpsValues().size());
  }
  return 0;
}

// Brings options that exclude each other or mean nothing to one form.
void Canonicalise(Point& p, int64_t max_elements) {
  const auto reset = [&p](Axis axis, int value) { Set(p, axis, value); };
  const bool backward = Get(p, Axis::kDirection) == 1;
  const int gate = Get(p, Axis::kGate);
  const bool gates_before = gate == 2 || gate == 4;
  if (gate == 0) reset(Axis::kZDtype, 0);
  if (gate == 0 && Get(p, Axis::kValues) == static_cast<int>(Values::kSaturatedGate)) {
    reset(Axis::kValues, 0);
  }
  if (gates_before) reset(Axis::kResidual, 0);
  if (!backward) {
    reset(Axis::kDyDtype, 0);
    reset(Axis::kStatistics, 0);
    reset(Axis::kDparameter, 0);
    reset(Axis::kResidual, std::min(Get(p, Axis::kResidual), 1));
  }
  if (Get(p, Axis::kWeight) == 0 && Get(p, Axis::kBias) == 0) reset(Axis::kDparameter, 0);
  if (Get(p, Axis::kInPlace) == 1 && backward) reset(Axis::kDyDtype, Get(p, Axis::kDtype));
  if (Get(p, Axis::kInPlace) == 1 && Get(p, Axis::kWanted) == 2) reset(Axis::kWanted, 0);
  // rstd of a subnormal row without eps is beyond fp32 (tested apart, edges_test.cc).
  if (Get(p, Axis::kValues) == static_cast<int>(Values::kSubnormal) && EpsOf(p) == 0) {
    reset(Axis::kEps, 0);
  }
  // A saved rstd of infinity makes NaN and infinity a matter of the last bit of the mean.
  if (Get(p, Axis::kStatistics) != 0 && EpsOf(p) == 0) reset(Axis::kEps, 0);
  // Somebody else's statistics on huge elements give h that overflows fp32.
  if (Get(p, Axis::kStatistics) == 2 && Get(p, Axis::kValues) == static_cast<int>(Values::kHuge)) {
    reset(Axis::kStatistics, 1);
  }
  const int64_t width = WidthOf(p);
  for (int choice = Get(p, Axis::kGroup) - 1; choice >= 0; --choice) {
    if (GroupOf(width, choice) == GroupOf(width, Get(p, Axis::kGroup))) reset(Axis::kGroup, choice);
  }
  const int64_t limit = width <= 17 ? 4 * max_elements : max_elements;
  int rows = Get(p, Axis::kRows);
  while (rows > 1 && RowCounts()[static_cast<size_t>(rows)] * width > limit) --rows;
  reset(Axis::kRows, rows);
}

const char* ValuesName(Values values) {
  switch (values) {
    case Values::kPlain:
      return "plain";
    case Values::kFarMean:
      return "far_mean";
    case Values::kWideRange:
      return "wide_range";
    case Values::kConstantRows:
      return "constant_rows";
    case Values::kHuge:
      return "huge";
    case Values::kSubnormal:
      return "subnormal";
    case Values::kNanRows:
      return "nan_rows";
    case Values::kSaturatedGate:
      return "saturated_gate";
    case Values::kZeroRows:
      return "zero_rows";
    case Values::kSpike:
      return "spike";
    case Values::kRowScales:
      return "row_scales";
  }
  return "";
}

}  // namespace

const std::vector<int64_t>& Widths() {
  static const std::vector<int64_t> kWidths = {
      1,   2,    3,    5,    7,    8,    15,   16,   17,   31,    32,
      33,  64,   97,   100,  128,  129,  255,  256,  257,  320,   512,
      769, 1000, 1024, 1152, 2048, 4096, 4099, 5121, 8192, 16384, 65537};
  return kWidths;
}

const std::vector<int64_t>& RowCounts() {
  static const std::vector<int64_t> kRowCounts = {0,  1,   2,    3,    7,    31,   33,   64,
                                                  65, 127, 1000, 4095, 4096, 4097, 70001};
  return kRowCounts;
}

const std::vector<float>& EpsValues() {
  static const std::vector<float> kEpsValues = {1e-5F, 1e-6F, 1e-12F, 1e-3F, 1.0F, 0.0F};
  return kEpsValues;
}

int64_t WidthOf(const Point& p) { return Widths()[static_cast<size_t>(Get(p, Axis::kWidth))]; }
int64_t RowsOf(const Point& p) { return RowCounts()[static_cast<size_t>(Get(p, Axis::kRows))]; }
float EpsOf(const Point& p) { return EpsValues()[static_cast<size_t>(Get(p, Axis::kEps))]; }

int64_t GroupOf(int64_t width, int choice) {
  if (choice == 0) return width;
  if (choice == 1) return 1;
  std::vector<int64_t> divisors;
  for (int64_t divisor = 2; divisor < width; ++divisor) {
    if (width % divisor == 0) divisors.push_back(divisor);
  }
  if (divisors.empty()) return width;
  if (choice == 2) return divisors.front();
  return choice == 3 ? divisors[divisors.size() / 2] : divisors.back();
}

Point RandomPoint(uint64_t seed, int64_t max_elements) {
  Random random(seed);
  Point point{};
  for (size_t axis = 0; axis < kAxes; ++axis) {
    point[axis] = static_cast<int>(random.Below(SizeOfAxis(static_cast<Axis>(axis))));
  }
  Canonicalise(point, max_elements);
  return point;
}

int PairSet::Add(const Point& point) {
  const int added = CountNew(point);
  for (size_t a = 0; a < kAxes; ++a) {
    for (size_t b = a + 1; b < kAxes; ++b) held_[IndexOf(a, point[a], b, point[b])] = true;
  }
  return added;
}

int PairSet::CountNew(const Point& point) const {
  int added = 0;
  for (size_t a = 0; a < kAxes; ++a) {
    for (size_t b = a + 1; b < kAxes; ++b) added += !held_[IndexOf(a, point[a], b, point[b])];
  }
  return added;
}

std::vector<std::string> PairSet::Without(const PairSet& other) const {
  std::vector<std::string> pairs;
  for (size_t i = 0; i < held_.size(); ++i) {
    if (!held_[i] || other.held_[i]) continue;
    const size_t axes = i / (kMaxValues * kMaxValues);
    pairs.push_back(absl::StrCat("axis ", axes / kAxes, " value ", i / kMaxValues % kMaxValues,
                                 " with axis ", axes % kAxes, " value ", i % kMaxValues));
  }
  return pairs;
}

std::vector<Point> CoveringPoints(int count, uint64_t seed, int64_t max_elements) {
  constexpr int kCandidates = 12;
  std::vector<Point> points;
  PairSet covered;
  uint64_t next_seed = seed;
  while (static_cast<int>(points.size()) < count) {
    Point best{};
    int best_new = -1;
    for (int i = 0; i < kCandidates; ++i) {
      const Point candidate = RandomPoint(next_seed++, max_elements);
      const int added = covered.CountNew(candidate);
      if (added <= best_new) continue;
      best_new = added;
      best = candidate;
    }
    covered.Add(best);
    points.push_back(best);
  }
  return points;
}

std::string Label(const Point& p) {
  static constexpr const char* kGates[] = {"", "_silu_after", "_silu_before", "_sigmoid_after",
                                           "_sigmoid_before"};
  static constexpr const char* kTypes[] = {"f32", "f16", "bf16"};
  static constexpr const char* kParameters[] = {"none", "f32", "f16", "bf16"};
  const auto get = [&p](Axis axis) { return static_cast<size_t>(Get(p, axis)); };
  const int64_t width = WidthOf(p);
  return absl::StrCat(
      get(Axis::kDirection) == 0 ? "fwd" : "bwd", get(Axis::kKind) == 0 ? "_layer" : "_rms",
      kGates[get(Axis::kGate)], "_", kTypes[get(Axis::kDtype)], "_z_", kTypes[get(Axis::kZDtype)],
      "_dy_", kTypes[get(Axis::kDyDtype)], "_w_", kParameters[get(Axis::kWeight)], "_b_",
      kParameters[get(Axis::kBias)], "_dp", get(Axis::kDparameter), "_width", width, "_group",
      GroupOf(width, Get(p, Axis::kGroup)), "_rows", RowsOf(p), "_off", get(Axis::kOffset),
      "_round", get(Axis::kRounding), "_res", get(Axis::kResidual), "_stats",
      get(Axis::kStatistics), "_want", get(Axis::kWanted), "_path", get(Axis::kPath), "_",
      ValuesName(static_cast<Values>(Get(p, Axis::kValues))), "_align", get(Axis::kAlignment),
      "_stride", get(Axis::kStrides), "_mem", get(Axis::kMemory), "_inplace", get(Axis::kInPlace),
      "_eps", get(Axis::kEps));
}

}  // namespace normd
