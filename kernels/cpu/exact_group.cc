#include "kernels/cpu/exact_group.h"

#include <cmath>

namespace normd {
namespace {

double Sigmoid(double z) {
  return z >= 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z));
}

double Activation(GateActivation gate, double z) {
  return gate == GateActivation::kSilu ? z * Sigmoid(z) : Sigmoid(z);
}

double ActivationSlope(GateActivation gate, double z) {
  const double s = Sigmoid(z);
  const double rest = Sigmoid(-z);  // 1 - s without cancellation
  return gate == GateActivation::kSilu ? s * (1 + z * rest) : s * rest;
}

}  // namespace

ExactGroup::ExactGroup(const NormSpec& spec, float eps)
    : spec_(spec), eps_(eps), inverse_size_(1 / static_cast<double>(spec.group)) {}

double ExactGroup::Value(const GroupChunk& chunk, int64_t i) const {
  if (spec_.gate_order != GateOrder::kGateThenNorm) return chunk.t[i];
  return chunk.x[i] * Activation(spec_.gate, chunk.z[i]);
}

double ExactGroup::Gradient(const GroupChunk& chunk, int64_t i) const {
  double g = chunk.dy[i];
  if (spec_.gate_order == GateOrder::kNormThenGate) g *= Activation(spec_.gate, chunk.z[i]);
  if (chunk.weight != nullptr) g *= chunk.weight[i];
  return g;
}

void ExactGroup::TakeStatistics(Chunks chunks) {
  if (spec_.kind == NormKind::kLayerNorm) {
    // Shifted by the first value, so that the deviations of a constant row are exactly zero.
    double shift = 0;
    double sum = 0;
    bool first = true;
    chunks([&](const GroupChunk& chunk) {
      if (first && std::isfinite(Value(chunk, 0))) shift = Value(chunk, 0);
      first = false;
      for (int64_t i = 0; i < chunk.columns; ++i) sum += Value(chunk, i) - shift;
    });
    mean_ = shift + sum * inverse_size_;
  }
  double squares = 0;
  chunks([&](const GroupChunk& chunk) {
    for (int64_t i = 0; i < chunk.columns; ++i) {
      const double deviation = Value(chunk, i) - mean_;
      squares += deviation * deviation;
    }
  });
  rstd_ = 1 / std::sqrt(squares * inverse_size_ + eps_);
}

void ExactGroup::UseStatistics(float mean, float rstd) {
  mean_ = mean;
  rstd_ = rstd;
}

void ExactGroup::TakeGradientSums(Chunks chunks) {
  double c1 = 0;
  double c2 = 0;
  chunks([&](const GroupChunk& chunk) {
    for (int64_t i = 0; i < chunk.columns; ++i) {
      const double g = Gradient(chunk, i);
      c1 += g * ((Value(chunk, i) - mean_) * rstd_);
      c2 += g;
    }
  });
  c1_ = c1 * inverse_size_;
  c2_ = spec_.kind == NormKind::kLayerNorm ? c2 * inverse_size_ : 0;
}

void ExactGroup::Normalize(const GroupChunk& chunk, float* h) const {
  for (int64_t i = 0; i < chunk.columns; ++i) {
    h[i] = static_cast<float>((Value(chunk, i) - mean_) * rstd_);
  }
}

void ExactGroup::Differentiate(const GroupChunk& chunk, float* dx, float* dz) const {
  for (int64_t i = 0; i < chunk.columns; ++i) {
    const double h = (Value(chunk, i) - mean_) * rstd_;
    double dt = rstd_ * (Gradient(chunk, i) - c2_ - h * c1_);
    if (chunk.dresidual_out != nullptr) dt += chunk.dresidual_out[i];
    if (spec_.gate_order == GateOrder::kGateThenNorm) {
      if (dz != nullptr) {
        dz[i] = static_cast<float>(dt * chunk.x[i] * ActivationSlope(spec_.gate, chunk.z[i]));
      }
      dt *= Activation(spec_.gate, chunk.z[i]);
    }
    dx[i] = static_cast<float>(dt);
  }
}

}  // namespace normd
