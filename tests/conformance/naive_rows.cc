#include "tests/conformance/naive_rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "tests/oracle/element.h"

namespace normd {
namespace {

constexpr DataType kFloat = DataType::kFloat32;
constexpr DataType kHalf = DataType::kBFloat16;

double ToFloat(double value) { return RoundTo(kFloat, value); }

const void* RowAt(const void* data, int64_t elements, DataType dtype) {
  return static_cast<const char*>(data) + elements * SizeOf(dtype);
}

}  // namespace

NaiveRows::NaiveRows(const NormSpec& spec, const Segment& segment, Fault fault, int64_t rows_before)
    : spec_(spec),
      s_(segment),
      fault_(fault),
      order_(fault != Fault::kGateOrderSwapped || !spec.has_gate() ? spec.gate_order
             : spec.gate_order == GateOrder::kNormThenGate         ? GateOrder::kGateThenNorm
                                                                   : GateOrder::kNormThenGate),
      rows_before_(rows_before),
      group_(spec.group) {
  const auto width = static_cast<size_t>(spec.width);
  for (auto* row : {&x_, &z_, &t_, &dy_, &unrounded_}) row->resize(width);
  for (auto& strip : dweight_) strip.resize(width);
  for (auto& strip : dbias_) strip.resize(width);
}

double NaiveRows::Load(DataType dtype, const void* data, int64_t stride, int64_t row,
                       int64_t column) const {
  if (Has(Fault::kStrideIgnored)) stride = spec_.width;
  return LoadElement(dtype, RowAt(data, row * stride + column, dtype));
}

void NaiveRows::Store(DataType dtype, void* data, int64_t stride, int64_t row, int64_t column,
                      double value) {
  if (Has(Fault::kLastRowNotWritten) && row > 0 && row == s_.rows - 1) return;
  if (Has(Fault::kOutputTruncated) && std::isfinite(value)) {
    value -= std::copysign(UlpOf(dtype, value) / 2, value);
  }
  char* address = static_cast<char*>(data) + (row * stride + column) * SizeOf(dtype);
  StoreElement(dtype, value, address);
  if (Has(Fault::kRowPaddingWritten) && column == spec_.width - 1 && spec_.width % 4 != 0) {
    StoreElement(dtype, value, address + SizeOf(dtype));
  }
}

void NaiveRows::Run() {
  const bool group_lost = Has(Fault::kGroupIgnored) && !spec_.has_statistics;
  const int64_t rows = s_.rows;
  for (int64_t row = 0; row < rows; ++row) {
    ReadRow(row);
    for (int64_t first = 0; first < spec_.width; first += group_) {
      group_lost ? Statistics(row, 0, spec_.width) : Statistics(row, first, group_);
      backward() ? Backward(row, first, group_) : Forward(row, first, group_);
    }
  }
  if (backward() && !(Has(Fault::kNoRowsLeaveGradients) && rows == 0)) WriteParameterGradients();
}

void NaiveRows::ReadRow(int64_t row) {
  for (int64_t c = 0; c < spec_.width; ++c) {
    const auto j = static_cast<size_t>(c);
    x_[j] = Load(spec_.dtype, s_.x.data, s_.x.row_stride, row, c);
    if (Has(Fault::kSubnormalsFlushed) && std::abs(x_[j]) < 0x1p-126) x_[j] = 0;
    if (spec_.has_gate()) z_[j] = Load(spec_.z_dtype, s_.z.data, s_.z.row_stride, row, c);
    if (backward()) dy_[j] = Load(spec_.dy_dtype, s_.dy.data, s_.dy.row_stride, row, c);
    t_[j] = gates_before() ? ToFloat(x_[j] * Activation(z_[j])) : x_[j];
    if (!backward() && spec_.has_residual) {
      unrounded_[j] = x_[j] + Load(spec_.dtype, s_.residual.data, s_.residual.row_stride, row, c);
      t_[j] = RoundTo(spec_.dtype, unrounded_[j]);
    }
  }
  if (Has(Fault::kInputChanged) && row == 0) {
    StoreElement(spec_.dtype, x_[0] + 1, const_cast<void*>(s_.x.data));
  }
  if (Has(Fault::kNanSpreadsToNextRow)) {
    if (leaked_nan_) t_[0] = NAN;
    leaked_nan_ = std::any_of(x_.begin(), x_.end(), [](double x) { return std::isnan(x); });
  }
}

double NaiveRows::Sum(const std::vector<double>& terms) const {
  if (Has(Fault::kSerialFloatSums) || Has(Fault::kHalfSums)) {
    const DataType dtype = Has(Fault::kHalfSums) ? DataType::kFloat16 : kFloat;
    double sum = 0;
    for (const double term : terms) sum = RoundTo(dtype, sum + RoundTo(dtype, term));
    return sum;
  }
  double sum = 0;
  for (const double term : terms) sum += term;
  return sum;
}

double NaiveRows::Variance(int64_t first, int64_t size) const {
  std::vector<double> squares;
  for (int64_t c = first; c < first + size; ++c) {
    const auto j = static_cast<size_t>(c);
    const bool sum_lost =
        Has(Fault::kStatisticsOfUnroundedSum) && !backward() && spec_.has_residual;
    const double centred = (sum_lost ? unrounded_[j] : t_[j]) - mean_;
    squares.push_back(centred * centred);
    if (Has(Fault::kSquaresOverflow)) squares.back() = ToFloat(squares.back());
  }
  const auto n = static_cast<double>(size);
  if (Has(Fault::kOnePassVariance) || Has(Fault::kClampedOnePassVariance)) {
    float sum = 0;
    for (int64_t c = first; c < first + size; ++c) {
      const auto t = static_cast<float>(t_[static_cast<size_t>(c)]);
      sum += t * t;
    }
    const auto mean = static_cast<float>(mean_);
    const float variance = sum / static_cast<float>(n) - mean * mean;
    return Has(Fault::kClampedOnePassVariance) ? std::max(variance, 0.0F) : variance;
  }
  return Sum(squares) / (Has(Fault::kUnbiasedVariance) && size > 1 ? n - 1 : n);
}

void NaiveRows::Statistics(int64_t row, int64_t first, int64_t size) {
  const bool layer_norm = spec_.kind == NormKind::kLayerNorm;
  const int64_t at = row * spec_.groups() + first / size;
  mean_ = 0;
  const bool own_mean = layer_norm && size == 1;
  if (spec_.has_statistics && !own_mean && !Has(Fault::kSavedStatisticsIgnored)) {
    if (layer_norm) mean_ = s_.mean[at];
    rstd_ = s_.rstd[at];
    return;
  }
  if (layer_norm || Has(Fault::kRmsSubtractsMean)) {
    mean_ = Sum({t_.begin() + first, t_.begin() + first + size}) / static_cast<double>(size);
    if (Has(Fault::kMeanRoundedToFloat)) mean_ = ToFloat(mean_);
  }
  const double variance = Variance(first, size);
  const double eps = Has(Fault::kEpsFixed) ? 1e-5 : s_.eps;
  rstd_ = 1 / std::sqrt(variance + eps);
  if (Has(Fault::kEpsOutsideRoot)) rstd_ = 1 / (std::sqrt(variance) + eps);
  if (Has(Fault::kEpsAddedToSum)) {
    rstd_ = 1 / std::sqrt(variance + eps / static_cast<double>(size));
  }
}

double NaiveRows::Activation(double z) const {
  double s = 1 / (1 + std::exp(-z));
  if (Has(Fault::kGateOverflows)) {
    const auto e = static_cast<double>(std::exp(static_cast<float>(z)));
    s = e / (1 + e);
  }
  const bool silu = spec_.gate == GateActivation::kSilu && !Has(Fault::kSigmoidForSilu);
  const double a = silu ? z * s : s;
  return Has(Fault::kGateRoundedToHalf) ? RoundTo(spec_.z_dtype, a) : a;
}

double NaiveRows::Slope(double z) const {
  const double s = 1 / (1 + std::exp(-z));
  return spec_.gate == GateActivation::kSilu ? s * (1 + z * (1 - s)) : s * (1 - s);
}

double NaiveRows::Weight(int64_t column) const {
  if (!spec_.has_weight) return Has(Fault::kOffsetWithoutWeight) ? 1 + spec_.weight_offset : 1;
  if (Has(Fault::kWeightOnlyWithBias) && !spec_.has_bias) return 1;
  const bool misread = Has(Fault::kFloatWeightReadAsHalf) && spec_.dtype != kFloat;
  const DataType dtype = misread ? spec_.dtype : spec_.weight_dtype;
  const double w = LoadElement(dtype, RowAt(s_.weight, column, dtype));
  const double sum = w + static_cast<double>(spec_.weight_offset);
  return Has(Fault::kOffsetAddedInHalf) && spec_.weight_offset != 0 ? RoundTo(kHalf, sum)
                                                                    : ToFloat(sum);
}

double NaiveRows::Affine(int64_t column, double h) const {
  const bool rounds = spec_.round_before_weight && !Has(Fault::kRoundBeforeWeightIgnored);
  if (rounds || Has(Fault::kRoundsTwice)) h = RoundTo(spec_.dtype, h);
  double u = h * Weight(column);
  const bool adds = spec_.has_bias && !(Has(Fault::kBiasMissingInDz) && backward());
  if (adds) u += LoadElement(spec_.bias_dtype, RowAt(s_.bias, column, spec_.bias_dtype));
  return u;
}

void NaiveRows::Forward(int64_t row, int64_t first, int64_t size) {
  const int64_t at = row * spec_.groups() + first / size;
  const double unit = Has(Fault::kStatisticsSavedInHalf) ? 1 : 0;
  const auto saved = [&](double v) {
    return static_cast<float>(unit != 0 ? RoundTo(kHalf, v) : v);
  };
  if (spec_.want_mean) s_.mean_out[at] = saved(mean_);
  if (spec_.want_rstd) s_.rstd_out[at] = saved(rstd_);
  for (int64_t c = first; c < first + size; ++c) {
    const auto j = static_cast<size_t>(c);
    if (Has(Fault::kReadsAfterWriteInPlace) && !spec_.has_residual && !gates_before()) {
      t_[j] = Load(spec_.dtype, s_.x.data, s_.x.row_stride, row, c - (c > first ? 1 : 0));
    }
    double y = Affine(c, (t_[j] - mean_) * rstd_);
    if (gates_after()) {
      const double a = Activation(z_[j]);
      const double bias = Has(Fault::kBiasNotGated) && spec_.has_bias
                              ? LoadElement(spec_.bias_dtype, RowAt(s_.bias, c, spec_.bias_dtype))
                              : 0;
      y = (y - bias) * a + bias;
    }
    if (spec_.want_y) Store(spec_.dtype, s_.y.data, s_.y.row_stride, row, c, y);
    if (spec_.want_residual_out) {
      Store(spec_.dtype, s_.residual_out.data, s_.residual_out.row_stride, row, c, t_[j]);
    }
  }
}

void NaiveRows::Backward(int64_t row, int64_t first, int64_t size) {
  std::vector<double> g, gh;
  const bool late = Has(Fault::kSumOrderFromBatch) && (rows_before_ + row) % 64 >= 32;
  for (int64_t c = first; c < first + size; ++c) {
    const auto j = static_cast<size_t>(c);
    const double h = (t_[j] - mean_) * rstd_;
    const double du = gates_after() ? dy_[j] * Activation(z_[j]) : dy_[j];
    g.push_back(du * Weight(c));
    gh.push_back(g.back() * h);
    const double rounded = spec_.round_before_weight ? RoundTo(spec_.dtype, h) : h;
    const double shifted =
        Has(Fault::kOffsetEntersDweight) ? rounded + spec_.weight_offset : rounded;
    if (Has(Fault::kDweightWithoutLastRow) && row > 0 && row == s_.rows - 1) continue;
    const auto add = [&](float& sum, double term) {
      sum =
          static_cast<float>(Has(Fault::kDweightInHalf) ? RoundTo(kHalf, sum + term) : sum + term);
    };
    add(dweight_[late][j], du * shifted);
    add(dbias_[late][j], du);
  }
  const bool whole = Has(Fault::kGroupIgnoredInBackward) && group_ != spec_.width;
  const double n = static_cast<double>(whole ? spec_.width : size);
  const double c1 = Sum(gh) / n;
  const bool centres = spec_.kind == NormKind::kLayerNorm && !Has(Fault::kMeanGradientMissing);
  const double c2 = centres ? Sum(g) / n : 0;
  for (int64_t c = first; c < first + size; ++c) {
    const auto j = static_cast<size_t>(c);
    const double h = (t_[j] - mean_) * rstd_;
    double dt = rstd_ * (g[j - static_cast<size_t>(first)] - c2 - h * c1);
    if (spec_.has_dresidual_out && !Has(Fault::kResidualGradientDropped)) {
      dt += Load(spec_.dtype, s_.dresidual_out.data, s_.dresidual_out.row_stride, row, c);
    }
    const double dx = gates_before() ? dt * Activation(z_[j]) : dt;
    if (spec_.want_dx) Store(spec_.dtype, s_.dx.data, s_.dx.row_stride, row, c, dx);
    if (spec_.want_dresidual) {
      Store(spec_.dtype, s_.dresidual.data, s_.dresidual.row_stride, row, c, dt);
    }
    if (!spec_.want_dz) continue;
    const double outer = gates_before() ? dt * x_[j] : dy_[j] * Affine(c, h);
    Store(spec_.z_dtype, s_.dz.data, s_.dz.row_stride, row, c, outer * Slope(z_[j]));
  }
}

void NaiveRows::WriteParameterGradients() {
  const bool swapped = Has(Fault::kDweightAndDbiasSwapped);
  const auto write = [&](bool wanted, DataType dtype, void* data,
                         const std::vector<float>* strips) {
    if (!wanted) return;
    for (int64_t c = 0; c < spec_.width; ++c) {
      char* address = static_cast<char*>(data) + c * SizeOf(dtype);
      const auto j = static_cast<size_t>(c);
      double sum = strips[0][j] + strips[1][j];
      if (Has(Fault::kDweightAccumulates)) sum += LoadElement(dtype, address);
      StoreElement(dtype, sum, address);
    }
  };
  write(spec_.want_dweight, spec_.dweight_dtype, s_.dweight, swapped ? dbias_ : dweight_);
  write(spec_.want_dbias, spec_.dbias_dtype, s_.dbias, swapped ? dweight_ : dbias_);
}

}  // namespace normd
