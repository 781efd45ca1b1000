#include "server/self_test.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
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
  spec.want_y = trial.direction == Direction::kForward;
  spec.want_dx = trial.direction == Direction::kBackward;
  return spec;
}

// y, or dx for the gradient dy, of the rows x.
absl::StatusOr<std::vector<float>> Run(Backend& backend, const Trial& trial,
                                       absl::Span<const float> x, absl::Span<const float> dy) {
  const auto elements = static_cast<int64_t>(x.size());
  const int64_t bytes = elements * static_cast<int64_t>(sizeof(float));
  const int64_t apart = (bytes + 255) / 256 * 256 / static_cast<int64_t>(sizeof(float));
  absl::StatusOr<Memory> memory =
      backend.Allocate(3 * apart * static_cast<int64_t>(sizeof(float)), MemoryKind::kStaging);
  if (!memory.ok()) return memory.status();
  absl::StatusOr<std::unique_ptr<Stream>> stream = backend.NewStream();
  if (!stream.ok()) return stream.status();
  auto* const in = static_cast<float*>(memory->data());
  float* const gradient = in + apart;
  float* const out = in + 2 * apart;
  std::copy(x.begin(), x.end(), in);
  std::copy(dy.begin(), dy.end(), gradient);
  std::fill_n(out, elements, std::nanf(""));

  const NormSpec spec = SpecOf(trial);
  Segment segment;
  segment.rows = trial.rows;
  segment.x = {in, trial.width};
  const bool forward = trial.direction == Direction::kForward;
  if (forward) {
    segment.y = {out, trial.width};
  } else {
    segment.dy = {gradient, trial.width};
    segment.dx = {out, trial.width};
  }
  const absl::StatusOr<LaunchInfo> launch =
      forward ? backend.Forward(spec, absl::MakeConstSpan(&segment, 1), **stream)
              : backend.Backward(spec, absl::MakeConstSpan(&segment, 1), **stream);
  if (!launch.ok()) return launch.status();
  if (absl::Status status = (*stream)->Synchronize(); !status.ok()) return status;
  return std::vector<float>(out, out + elements);
}

absl::Status Compare(const Trial& trial, absl::Span<const float> got,
                     absl::Span<const float> expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    // Values are about 1; fp32 statistics of these rows are good to 1e-5. A NaN is not close.
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
  const std::vector<float> x = {1, 2, 3, 4};
  const std::vector<float> dy = {1, 0, 0, 0};
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
    const absl::StatusOr<std::vector<float>> got = Run(backend, trial, x, dy);
    if (!got.ok()) return InContext(trial, got.status());
    if (absl::Status status = Compare(trial, *got, expected); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CompareWithReference(Backend& backend, Backend& reference, const Trial& trial) {
  const auto elements = static_cast<size_t>(trial.rows * trial.width);
  std::vector<float> x(elements);
  std::vector<float> dy(elements);
  for (size_t i = 0; i < elements; ++i) {
    x[i] = static_cast<float>((i * 37) % 101) / 50.0f - 1.0f;
    dy[i] = static_cast<float>((i * 53) % 97) / 48.0f - 1.0f;
  }
  const absl::StatusOr<std::vector<float>> got = Run(backend, trial, x, dy);
  if (!got.ok()) return InContext(trial, got.status());
  const absl::StatusOr<std::vector<float>> expected = Run(reference, trial, x, dy);
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
        const Trial trial = {kind, direction, path, width, /*rows=*/7};
        if (auto status = CompareWithReference(backend, *reference, trial); !status.ok()) {
          return status;
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace normd
