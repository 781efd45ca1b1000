#include "tests/bench/kernel/axis_flags.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

using List = std::vector<std::string>;

ABSL_FLAG(List, op, {}, "layer_norm, rms_norm (with a gate: its gated form)");
ABSL_FLAG(List, direction, {}, "forward, backward");
ABSL_FLAG(List, dtype, {}, "float32, float16, bfloat16: x, y, z and their gradients");
ABSL_FLAG(List, width, {}, "columns of a row, 1 to 2^24");
ABSL_FLAG(List, rows, {}, "rows of a launch, all segments together");
ABSL_FLAG(List, gate, {}, "none, silu, sigmoid (after the norm), silu_before, sigmoid_before");
ABSL_FLAG(List, group, {}, "columns that share statistics; 0: the whole row");
ABSL_FLAG(List, residual, {}, "false, true: forward adds a residual first and stores the sum");
ABSL_FLAG(List, statistics, {}, "true, false: forward stores them and backward reads them");
ABSL_FLAG(List, parameters, {}, "same, float32, none: dtype of weight and bias");
ABSL_FLAG(List, path, {}, "auto, row_tiled, single_row");
ABSL_FLAG(List, segments, {}, "segments that the rows of a launch are divided into");
ABSL_FLAG(List, timing, {}, "events, graph (replays of 100 launches, where the device records)");

namespace normd {
namespace {

// Collects axes until the first wrong value.
class Reader {
 public:
  // Values by their names, out of all that there are.
  template <typename T, typename NameOf>
  void Read(absl::string_view flag, const List& texts, std::initializer_list<T> all, NameOf name_of,
            std::vector<T>& values) {
    for (const std::string& text : texts) {
      bool known = false;
      for (const T value : all) {
        if (text != name_of(value)) continue;
        values.push_back(value);
        known = true;
      }
      if (!known)
        Fail(flag, text, absl::StrJoin(all, ", ", [&](std::string* out, T value) {
               absl::StrAppend(out, name_of(value));
             }));
    }
  }

  // Whole numbers from `least` up.
  void Read(absl::string_view flag, const List& texts, int64_t least,
            std::vector<int64_t>& values) {
    for (const std::string& text : texts) {
      int64_t value = 0;
      if (!absl::SimpleAtoi(text, &value) || value < least) {
        Fail(flag, text, absl::StrCat("whole numbers from ", least));
      }
      values.push_back(value);
    }
  }

  const absl::Status& status() const { return status_; }

 private:
  void Fail(absl::string_view flag, absl::string_view text, absl::string_view allowed) {
    status_.Update(absl::InvalidArgumentError(
        absl::StrCat("--", flag, ": '", text, "' is none of: ", allowed)));
  }

  absl::Status status_;
};

const char* OpText(NormKind kind) {
  NormSpec spec;
  spec.kind = kind;
  return OpName(spec);
}
const char* BoolText(bool value) { return value ? "true" : "false"; }

}  // namespace

absl::StatusOr<Axes> AxesFromFlags() {
  Axes axes;
  Reader reader;
  // Overloaded names, called through a lambda.
  const auto name_of = [](auto value) { return Name(value); };
  reader.Read("op", absl::GetFlag(FLAGS_op), {NormKind::kLayerNorm, NormKind::kRmsNorm}, OpText,
              axes.op);
  reader.Read("direction", absl::GetFlag(FLAGS_direction),
              {Direction::kForward, Direction::kBackward}, name_of, axes.direction);
  reader.Read("dtype", absl::GetFlag(FLAGS_dtype),
              {DataType::kFloat32, DataType::kFloat16, DataType::kBFloat16}, name_of, axes.dtype);
  reader.Read("gate", absl::GetFlag(FLAGS_gate),
              {Gate::kNone, Gate::kSilu, Gate::kSigmoid, Gate::kSiluBefore, Gate::kSigmoidBefore},
              name_of, axes.gate);
  reader.Read("residual", absl::GetFlag(FLAGS_residual), {false, true}, BoolText, axes.residual);
  reader.Read("statistics", absl::GetFlag(FLAGS_statistics), {false, true}, BoolText,
              axes.statistics);
  reader.Read("parameters", absl::GetFlag(FLAGS_parameters),
              {Parameters::kSame, Parameters::kFloat32, Parameters::kNone}, name_of,
              axes.parameters);
  reader.Read("path", absl::GetFlag(FLAGS_path),
              {KernelPath::kAuto, KernelPath::kRowTiled, KernelPath::kSingleRow}, name_of,
              axes.path);
  reader.Read("timing", absl::GetFlag(FLAGS_timing), {Timing::kEvents, Timing::kGraph}, name_of,
              axes.timing);
  reader.Read("width", absl::GetFlag(FLAGS_width), 1, axes.width);
  reader.Read("rows", absl::GetFlag(FLAGS_rows), 1, axes.rows);
  reader.Read("group", absl::GetFlag(FLAGS_group), 0, axes.group);
  reader.Read("segments", absl::GetFlag(FLAGS_segments), 1, axes.segments);
  if (!reader.status().ok()) return reader.status();
  return axes;
}

}  // namespace normd
