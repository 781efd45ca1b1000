#include "server/self_test.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace normd {
namespace {

struct Trial {
  NormKind kind = NormKind::kLayerNorm;
  Direction direction = Direction::kForward;
  KernelPath path = KernelPath::kAuto;
  int64_t width = 0;
  int64_t rows = 0;
  bool weight = false;  // with a weight, and backward its gradient
};

struct Operands {
  std::vector<float> x;
  std::vector<float> dy;
  std::vector<float> weight;
};

std::string Describe(const Trial& trial) {
  const char* const kind = trial.kind == NormKind::kLayerNorm ? "layer_norm " : "rms_norm ";
  const char* const path = trial.path == KernelPath::kRowTiled    ? " row-tiled"
                           : trial.path == KernelPath::kSingleRow ? " single-row"
                                                                  : "";
  return absl::StrCat(kind, Name(trial.direction), path, ", width ", trial.width);
}

NormSpec SpecOf(const Trial& trial) {
  NormSpec spec;
  spec.kind = trial.kind;
  spec.direction = trial.direction;
  spec.path = trial.path;
  spec.width = trial.width;
  spec.group = trial.width;
  spec.has_weight = trial.weight;
  const bool forward = trial.direction == Direction::kForward;
  spec.want_y = forward;
  spec.want_dx = !forward;
  spec.want_dweight = !forward && trial.weight;
  return spec;
}

absl::Status Launch(Backend& backend, const NormSpec& spec, const Segment& segment) {
  absl::StatusOr<std::unique_ptr<Stream>> stream = backend.NewStream();
  if (!stream.ok()) return stream.status();
  const auto segments = absl::MakeConstSpan(&segment, 1);
  const absl::StatusOr<LaunchInfo> launch = spec.direction == Direction::kForward
                                                ? backend.Forward(spec, segments, **stream)
                                                : backend.Backward(spec, segments, **stream);
  if (!launch.ok()) return launch.status();
  return (*stream)->Synchronize();
}

// y; or dx, and with a weight dweight behind it.
absl::StatusOr<std::vector<float>> Run(Backend& backend, const Trial& trial,
                                       const Operands& operands) {
  const auto elements = static_cast<int64_t>(operands.x.size());
  const NormSpec spec = SpecOf(trial);
  const int64_t results = elements + (spec.want_dweight ? trial.width : 0);
  const int64_t floats = 2 * elements + trial.width + results;
  absl::StatusOr<Memory> memory =
      backend.Allocate(floats * static_cast<int64_t>(sizeof(float)), MemoryKind::kStaging);
  if (!memory.ok()) return memory.status();
  auto* const x = static_cast<float*>(memory->data());
  float* const dy = x + elements;
  float* const weight = dy + elements;
  float* const result = weight + trial.width;
  std::copy(operands.x.begin(), operands.x.end(), x);
  std::copy(operands.dy.begin(), operands.dy.end(), dy);
  std::copy(operands.weight.begin(), operands.weight.end(), weight);
  std::fill_n(result, results, std::nanf(""));

  Segment segment;
  segment.rows = trial.rows;
  segment.x = {x, trial.width};
  if (trial.weight) segment.weight = weight;
  if (trial.direction == Direction::kForward) {
    segment.y = {result, trial.width};
  } else {
    segment.dy = {dy, trial.width};
    segment.dx = {result, trial.width};
    if (trial.weight) segment.dweight = result + elements;
  }
  if (absl::Status status = Launch(backend, spec, segment); !status.ok()) return status;
  return std::vector<float>(result, result + results);
}

absl::Status Compare(const Trial& trial, absl::Span<const float> got,
                     absl::Span<const float> expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    // Values are below 10; fp32 results of these rows are good to 1e-5. A NaN is not close.
    if (std::abs(got[i] - expected[i]) <= 1e-4f) continue;
    return absl::InternalError(absl::StrCat("self-test: ", Describe(trial), ": element ", i, " is ",
                                            got[i], " and should be ", expected[i]));
  }
  return absl::OkStatus();
}

absl::Status InContext(const Trial& trial, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("self-test: ", Describe(trial), ": ", status.message()));
}

// x = 1, 2, 3, 4 has mean 2.5, variance 1.25, mean square 7.5; dy = 1, 0, 0, 0.
absl::Status CompareWithKnown(Backend& backend) {
  const Operands operands = {.x = {1, 2, 3, 4}, .dy = {1, 0, 0, 0}, .weight = {}};
  const auto layer = static_cast<float>(1 / std::sqrt(1.25));
  const auto rms = static_cast<float>(1 / std::sqrt(7.5));
  const struct {
    NormKind kind;
    Direction direction;
    std::vector<float> expected;
  } known[] = {
      {NormKind::kLayerNorm,
       Direction::kForward,
       {-1.5f * layer, -0.5f * layer, 0.5f * layer, 1.5f * layer}},
      // r (dy - mean(dy) - h mean(dy h)), h = (x - 2.5) r
      {NormKind::kLayerNorm,
       Direction::kBackward,
       {0.3f * layer, -0.4f * layer, -0.1f * layer, 0.2f * layer}},
      {NormKind::kRmsNorm, Direction::kForward, {rms, 2 * rms, 3 * rms, 4 * rms}},
      // r (dy - h mean(dy h)), h = x r
      {NormKind::kRmsNorm,
       Direction::kBackward,
       {rms * 29 / 30, -rms / 15, -rms / 10, -rms * 2 / 15}},
  };
  for (const auto& [kind, direction, expected] : known) {
    const Trial trial = {.kind = kind, .direction = direction, .width = 4, .rows = 1};
    const absl::StatusOr<std::vector<float>> got = Run(backend, trial, operands);
    if (!got.ok()) return InContext(trial, got.status());
    if (absl::Status status = Compare(trial, *got, expected); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CompareWithReference(Backend& backend, Backend& reference, const Trial& trial) {
  Operands operands;
  for (int64_t i = 0; i < trial.rows * trial.width; ++i) {
    operands.x.push_back(static_cast<float>((i * 37) % 101) / 50.0f - 1.0f);
    operands.dy.push_back(static_cast<float>((i * 53) % 97) / 48.0f - 1.0f);
  }
  for (int64_t i = 0; i < trial.width; ++i) {
    operands.weight.push_back(static_cast<float>(i % 13) / 12.0f + 0.5f);
  }
  const absl::StatusOr<std::vector<float>> got = Run(backend, trial, operands);
  if (!got.ok()) return InContext(trial, got.status());
  const absl::StatusOr<std::vector<float>> expected = Run(reference, trial, operands);
  if (!expected.ok()) return InContext(trial, expected.status());
  return Compare(trial, *got, *expected);
}

}  // namespace

absl::Status SelfTest(Backend& backend, Backend* reference) {
  if (absl::Status status = CompareWithKnown(backend); !status.ok()) return status;
  if (reference == nullptr) return absl::OkStatus();
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    for (const NormKind kind : {NormKind::kLayerNorm, NormKind::kRmsNorm}) {
      for (const auto& [path, width] :
           {std::pair{KernelPath::kRowTiled, 64}, std::pair{KernelPath::kSingleRow, 1024},
            std::pair{KernelPath::kAuto, 128}, std::pair{KernelPath::kAuto, 4099},
            std::pair{KernelPath::kAuto, 65536}}) {
        const Trial trial = {kind, direction, path, width, /*rows=*/7, /*weight=*/true};
        if (auto status = CompareWithReference(backend, *reference, trial); !status.ok()) {
          return status;
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace normd
