#include "tests/oracle/oracle.h"

#include <cmath>
#include <cstddef>

#include "tests/oracle/bounded.h"
#include "tests/oracle/element.h"

namespace normd {
namespace {

using Bounds = std::vector<Bounded>;

// Sum over rows with the bound of the sum.
struct RowSum {
  double value = 0;
  double error = 0;
  double magnitude = 0;

  void Add(Bounded term) {
    value += term.value;
    error += term.error;
    magnitude += std::abs(term.value);
  }
};

// One group of one row: columns [first, first + size) of the row.
struct Group {
  int64_t row;
  int64_t index;  // of the group in its row
  int64_t first;
  int64_t size;
};

class Oracle {
 public:
  Oracle(const NormSpec& spec, const Operands& operands)
      : spec_(spec), in_(operands), size_(static_cast<size_t>(spec.group)) {
    t_.resize(size_);
    h_.resize(size_);
    scratch_.resize(size_);
    g_.resize(size_);
  }

  Results Run() {
    const bool forward = spec_.direction == Direction::kForward;
    Allocate(forward);
    for (int64_t row = 0; row < in_.rows; ++row) {
      for (int64_t index = 0; index < spec_.groups(); ++index) {
        const Group group{row, index, index * spec_.group, spec_.group};
        ReadInput(group);
        Normalise(group);
        forward ? Forward(group) : Backward(group);
      }
    }
    if (!forward) StoreParameterGradients();
    return out_;
  }

 private:
  void Allocate(bool forward) {
    const auto elements = static_cast<size_t>(in_.rows * spec_.width);
    const auto statistics = static_cast<size_t>(in_.rows * spec_.groups());
    const auto width = static_cast<size_t>(spec_.width);
    const auto size = [](Reference& reference, bool present, size_t count) {
      reference.value.resize(present ? count : 0);
      reference.error.resize(present ? count : 0);
    };
    size(out_.y, forward, elements);
    size(out_.mean, forward && spec_.kind == NormKind::kLayerNorm, statistics);
    size(out_.rstd, forward, statistics);
    size(out_.residual_out, forward && spec_.has_residual, elements);
    size(out_.dx, !forward, elements);
    size(out_.dz, !forward && spec_.has_gate(), elements);
    size(out_.dresidual, !forward && spec_.has_residual, elements);
    size(out_.dweight, !forward && spec_.has_weight, width);
    size(out_.dbias, !forward && spec_.has_bias, width);
    dweight_.resize(width);
    dbias_.resize(width);
  }

  size_t At(const Group& group, size_t j) const {
    return static_cast<size_t>(group.row * spec_.width + group.first) + j;
  }
  size_t Statistic(const Group& group) const {
    return static_cast<size_t>(group.row * spec_.groups() + group.index);
  }
  static size_t Column(const Group& group, size_t j) {
    return static_cast<size_t>(group.first) + j;
  }
  static Bounded Exact(const std::vector<double>& tensor, size_t at) {
    return Bounded::Exact(tensor[at]);
  }
  static void Put(Reference& reference, size_t at, Bounded result) {
    reference.value[at] = result.value;
    reference.error[at] = result.error;
  }

  // a(z)
  Bounded Activation(size_t at) const {
    const Bounded z = Exact(in_.z, at);
    return spec_.gate == GateActivation::kSilu ? z * Sigmoid(z) : Sigmoid(z);
  }

  // a'(z)
  Bounded Slope(size_t at) const {
    const Bounded z = Exact(in_.z, at);
    const Bounded s = Sigmoid(z);
    const Bounded c = OneMinusSigmoid(z);
    return spec_.gate == GateActivation::kSilu ? s * (Bounded::Exact(1) + z * c) : s * c;
  }

  // w + o; 1 without a weight.
  Bounded Weight(const Group& group, size_t j) const {
    if (!spec_.has_weight) return Bounded::Exact(1);
    return Exact(in_.weight, Column(group, j)) + Bounded::Exact(spec_.weight_offset);
  }

  bool gates_before() const { return spec_.gate_order == GateOrder::kGateThenNorm; }
  bool gates_after() const { return spec_.gate_order == GateOrder::kNormThenGate; }

  // t
  void ReadInput(const Group& group) {
    const bool adds = spec_.direction == Direction::kForward && spec_.has_residual;
    for (size_t j = 0; j < size_; ++j) {
      const size_t at = At(group, j);
      t_[j] = Exact(in_.x, at);
      if (gates_before()) t_[j] = t_[j] * Activation(at);
      if (adds) t_[j] = Bounded::Exact(RoundTo(spec_.dtype, in_.x[at] + in_.residual[at]));
    }
  }

  // mean, rstd, h
  void Normalise(const Group& group) {
    const bool layer_norm = spec_.kind == NormKind::kLayerNorm;
    // The mean of one element is that element, however it was rounded and whatever was saved.
    const bool own_mean = layer_norm && size_ == 1;
    if (spec_.has_statistics && !own_mean) {
      if (layer_norm) mean_ = Exact(in_.mean, Statistic(group));
      rstd_ = Exact(in_.rstd, Statistic(group));
      for (size_t j = 0; j < size_; ++j) h_[j] = (layer_norm ? t_[j] - mean_ : t_[j]) * rstd_;
      return;
    }
    if (layer_norm) mean_ = CorrectedMean(t_);
    for (size_t j = 0; j < size_; ++j) h_[j] = layer_norm ? t_[j] - mean_ : t_[j];
    if (own_mean) h_[0] = Bounded::Exact(t_[0].value - t_[0].value);
    for (size_t j = 0; j < size_; ++j) scratch_[j] = h_[j] * h_[j];
    rstd_ = Rsqrt(Mean(scratch_) + Bounded::Exact(in_.eps));
    for (size_t j = 0; j < size_; ++j) h_[j] = h_[j] * rstd_;
  }

  // h as the weight sees it.
  Bounded Rounded(size_t j) const {
    return spec_.round_before_weight ? RoundTo(spec_.dtype, h_[j]) : h_[j];
  }

  // u
  Bounded Affine(const Group& group, size_t j) const {
    Bounded u = Rounded(j);
    if (spec_.has_weight) u = u * Weight(group, j);
    if (spec_.has_bias) u = u + Exact(in_.bias, Column(group, j));
    return u;
  }

  void Forward(const Group& group) {
    if (spec_.kind == NormKind::kLayerNorm) Put(out_.mean, Statistic(group), mean_);
    Put(out_.rstd, Statistic(group), rstd_);
    for (size_t j = 0; j < size_; ++j) {
      const size_t at = At(group, j);
      const Bounded u = Affine(group, j);
      Put(out_.y, at, gates_after() ? u * Activation(at) : u);
      if (spec_.has_residual) Put(out_.residual_out, at, t_[j]);
    }
  }

  void Backward(const Group& group) {
    for (size_t j = 0; j < size_; ++j) {
      const size_t at = At(group, j);
      const Bounded dy = Exact(in_.dy, at);
      const Bounded du = gates_after() ? dy * Activation(at) : dy;
      if (gates_after()) Put(out_.dz, at, dy * Affine(group, j) * Slope(at));
      dweight_[Column(group, j)].Add(du * Rounded(j));
      dbias_[Column(group, j)].Add(du);
      g_[j] = spec_.has_weight ? du * Weight(group, j) : du;
    }
    for (size_t j = 0; j < size_; ++j) scratch_[j] = g_[j] * h_[j];
    const Bounded c1 = Mean(scratch_);
    const Bounded c2 = spec_.kind == NormKind::kLayerNorm ? Mean(g_) : Bounded::Exact(0);
    for (size_t j = 0; j < size_; ++j) {
      Bounded dt = rstd_ * (g_[j] - c2 - h_[j] * c1);
      if (spec_.has_dresidual_out) dt = dt + Exact(in_.dresidual_out, At(group, j));
      StoreInputGradients(At(group, j), dt);
    }
  }

  void StoreInputGradients(size_t at, Bounded dt) {
    Put(out_.dx, at, gates_before() ? dt * Activation(at) : dt);
    if (gates_before()) Put(out_.dz, at, dt * Exact(in_.x, at) * Slope(at));
    if (spec_.has_residual) Put(out_.dresidual, at, dt);
  }

  void StoreParameterGradients() {
    const double steps = SumSteps(static_cast<double>(in_.rows)) * kStep;
    const auto store = [&](Reference& reference, const std::vector<RowSum>& sums) {
      for (size_t j = 0; j < reference.value.size(); ++j) {
        const double error = sums[j].error + steps * sums[j].magnitude;
        Put(reference, j, {sums[j].value, std::isfinite(sums[j].value) ? error : 0});
      }
    };
    store(out_.dweight, dweight_);
    store(out_.dbias, dbias_);
  }

  const NormSpec& spec_;
  const Operands& in_;
  const size_t size_;
  Results out_;
  std::vector<RowSum> dweight_, dbias_;

  // Of the group at hand.
  Bounds t_, h_, g_, scratch_;
  Bounded mean_, rstd_;
};

}  // namespace

Results RunOracle(const NormSpec& spec, const Operands& operands) {
  return Oracle(spec, operands).Run();
}

}  // namespace normd
