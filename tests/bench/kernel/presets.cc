#include "tests/bench/kernel/presets.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace normd {
namespace {

using Points = std::vector<Point>;

const std::vector<NormKind> kBothOps = {NormKind::kLayerNorm, NormKind::kRmsNorm};
const std::vector<Direction> kBothDirections = {Direction::kForward, Direction::kBackward};
const std::vector<KernelPath> kAllPaths = {KernelPath::kAuto, KernelPath::kRowTiled,
                                           KernelPath::kSingleRow};
const std::vector<int64_t> kNarrowWidths = {16, 32, 64, 128, 256, 512};
constexpr int64_t kNarrowRows = 7'864'320;

void Append(Points& points, const Point& base, const Axes& axes) {
  const Points more = Cross(base, axes);
  points.insert(points.end(), more.begin(), more.end());
}

// The same elements at every width.
void AppendElements(Points& points, const Point& base, int64_t elements,
                    const std::vector<int64_t>& widths, Axes axes) {
  for (const int64_t width : widths) {
    axes.width = {width};
    axes.rows = {elements / width};
    Append(points, base, axes);
  }
}

Points NarrowLayerNorm() {
  Points points;
  Append(points, {.rows = kNarrowRows},
         {.direction = kBothDirections, .width = kNarrowWidths, .path = kAllPaths});
  return points;
}

Points GatedRmsNorm() {
  const Point base = {.op = NormKind::kRmsNorm,
                      .dtype = DataType::kFloat16,
                      .width = 128,
                      .gate = Gate::kSilu,
                      .timing = Timing::kGraph,
                      .rotate = false};
  Points points;
  Append(points, base,
         {.rows = {256, 512, 1024, 4096, 16384, 65536, 131072, 262144},
          .path = {KernelPath::kAuto, KernelPath::kRowTiled, KernelPath::kSingleRow}});
  return points;
}

Points Wide() {
  Points points;
  AppendElements(points, {}, int64_t{1} << 29, {1024, 2048, 4096, 8192, 16384, 32768, 65536},
                 {.op = kBothOps, .direction = kBothDirections});
  return points;
}

// Gates and groups: many rows at widths 64 to 1,024, and 65,536 rows x 128.
void AppendGated(Points& points) {
  const Point gated = {.op = NormKind::kRmsNorm, .dtype = DataType::kFloat16, .gate = Gate::kSilu};
  AppendElements(points, gated, int64_t{1} << 28, {64, 128, 256, 512, 1024},
                 {.direction = kBothDirections, .group = {0, 64, 128}});
  Point others = gated;
  others.width = 128;
  others.rows = 2'097'152;
  Append(points, others,
         {.op = kBothOps,
          .direction = kBothDirections,
          .gate = {Gate::kSigmoid, Gate::kSiluBefore, Gate::kSigmoidBefore}});
  Point fewer = gated;
  fewer.width = 128;
  fewer.rows = 65'536;
  Append(points, fewer,
         {.direction = kBothDirections,
          .group = {0, 64},
          .timing = {Timing::kEvents, Timing::kGraph}});
}

Points Options() {
  constexpr int64_t elements = int64_t{1} << 28;
  const std::vector<int64_t> widths = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};
  Points points;
  Append(points, {.op = NormKind::kRmsNorm, .rows = kNarrowRows},
         {.direction = kBothDirections, .width = kNarrowWidths});
  // 16 columns in the public shape are fewer than 2^27 elements.
  AppendElements(points, {}, elements, {16}, {.op = kBothOps, .direction = kBothDirections});
  AppendElements(points, {}, elements, widths,
                 {.op = kBothOps,
                  .direction = kBothDirections,
                  .dtype = {DataType::kFloat16, DataType::kFloat32}});
  AppendGated(points);
  AppendElements(points, {}, elements, {17, 97, 1000, 5121},
                 {.op = kBothOps, .direction = kBothDirections});
  AppendElements(points, {.residual = true}, elements, {128, 1024, 4096},
                 {.op = kBothOps, .direction = kBothDirections});
  AppendElements(points, {.parameters = Parameters::kFloat32}, elements, {64, 1024, 4096},
                 {.op = kBothOps, .direction = kBothDirections});
  AppendElements(points, {.statistics = false}, elements, {16, 128, 1024},
                 {.direction = kBothDirections});
  AppendElements(points, {.op = NormKind::kLayerNorm}, elements, {1024},
                 {.direction = kBothDirections, .group = {64, 128}});
  return points;
}

Points FewRows() {
  Points points;
  Append(points, {.timing = Timing::kGraph, .rotate = false},
         {.op = kBothOps,
          .direction = kBothDirections,
          .width = {64, 256, 1024, 4096, 8192},
          .rows = {1, 16, 256, 1024, 4096, 16384}});
  return points;
}

// Many segments, and beside them the same rows in one.
Points Segments() {
  Points points;
  for (const int64_t segments : {64, 200}) {
    Append(points, {.rows = segments * 256, .timing = Timing::kGraph, .rotate = false},
           {.op = kBothOps,
            .direction = kBothDirections,
            .width = {128, 1024},
            .segments = {1, segments}});
  }
  return points;
}

Points Quick() {
  constexpr int64_t elements = int64_t{1} << 28;
  Points points;
  AppendElements(points, {}, elements, {16, 128, 1024, 8192, 32768},
                 {.op = kBothOps, .direction = kBothDirections});
  AppendElements(points, {.op = NormKind::kRmsNorm, .gate = Gate::kSilu}, elements, {128},
                 {.direction = kBothDirections, .group = {0, 64}});
  AppendElements(points, {}, elements, {97, 5121}, {.direction = kBothDirections});
  Append(points,
         {.op = NormKind::kRmsNorm,
          .dtype = DataType::kFloat16,
          .width = 128,
          .gate = Gate::kSilu,
          .timing = Timing::kGraph,
          .rotate = false},
         {.rows = {256, 4096, 65536}});
  Append(points, {.width = 128, .rows = 64 * 256, .timing = Timing::kGraph, .rotate = false},
         {.direction = kBothDirections, .segments = {1, 64}});
  return points;
}

struct Entry {
  const char* name;
  Points (*points)();
  const char* help;
};

constexpr Entry kPresets[] = {
    {"narrow-layer-norm", NarrowLayerNorm,
     "LayerNorm over 7,864,320 rows of 16 to 512 columns, bfloat16, both directions, "
     "row-tiled against single-row"},
    {"gated-rms-norm", GatedRmsNorm,
     "gated RMSNorm over 256 to 262,144 rows of 128 columns, float16, graphs of 100 launches"},
    {"wide", Wide, "both ops over 2^29 elements in rows of 1,024 to 65,536 columns, bfloat16"},
    {"options", Options,
     "RMSNorm, float16 and float32, gates, groups, residual, fp32 parameters, no statistics and "
     "odd widths, over 2^28 elements or more"},
    {"few-rows", FewRows, "1 to 16,384 rows of 64 to 8,192 columns, graphs of 100 launches"},
    {"segments", Segments,
     "64 and 200 segments of 256 rows against one of the same rows, with the host's cost of a "
     "launch"},
    {"quick", Quick, "a short mix of all that; under a minute on an H200"},
};

}  // namespace

absl::StatusOr<std::vector<Point>> Preset(absl::string_view name) {
  for (const Entry& preset : kPresets) {
    if (name == preset.name) return preset.points();
  }
  return absl::NotFoundError(
      absl::StrCat("no preset '", name, "'; there are ", absl::StrJoin(PresetNames(), ", ")));
}

std::string PresetHelp() {
  std::string text;
  for (const Entry& preset : kPresets) {
    absl::StrAppend(&text, "  ", preset.name, ": ", preset.help, "\n");
  }
  return text;
}

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const Entry& preset : kPresets) names.emplace_back(preset.name);
  return names;
}

}  // namespace normd
