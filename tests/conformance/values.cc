#include "tests/conformance/values.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "tests/oracle/element.h"

namespace normd {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A mean so far from zero that the dtype still resolves a spread of 1.
double FarMean(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat32:
      return 10000;
    case DataType::kFloat16:
      return 500;
    case DataType::kBFloat16:
      return 60;
  }
  return 0;
}

double HugeScale(DataType dtype, Random& random) {
  constexpr double kScales[] = {1e18, 1e20, 1e30, 1e37};
  const double scale = kScales[random.Below(4)];
  return dtype == DataType::kFloat16 ? 3e4 : scale;
}

double SubnormalScale(DataType dtype) { return dtype == DataType::kFloat16 ? 0x1p-16 : 0x1p-130; }

using Row = std::vector<double>;

void FillPlain(Row& row, double center, double spread, Random& random) {
  for (double& element : row) element = center + random.Uniform(-spread, spread);
}

void FillRow(Values values, DataType dtype, int64_t index, Row& row, Random& random) {
  const auto any = [&row, &random] { return random.Below(static_cast<int64_t>(row.size())); };
  switch (values) {
    case Values::kPlain:
    case Values::kSaturatedGate:
      return FillPlain(row, 0.25, 2, random);
    case Values::kFarMean:
      return FillPlain(row, FarMean(dtype) * (index % 2 == 0 ? 1 : -1), 1, random);
    case Values::kWideRange:
      for (double& element : row) {
        element = random.Uniform(-1, 1) * std::exp2(random.Uniform(-8, 8));
      }
      return;
    case Values::kConstantRows:
      std::fill(row.begin(), row.end(), random.Uniform(-100, 100));
      return;
    case Values::kHuge:
      return FillPlain(row, 0, HugeScale(dtype, random), random);
    case Values::kSubnormal:
      return FillPlain(row, 0, SubnormalScale(dtype), random);
    case Values::kNanRows:
      FillPlain(row, 0, 2, random);
      if (index % 3 == 1) {
        constexpr double kSpecial[] = {kNan, kInfinity, -kInfinity};
        row[static_cast<size_t>(any())] = kSpecial[random.Below(3)];
      }
      return;
    case Values::kZeroRows:
      if (index % 2 == 0) return std::fill(row.begin(), row.end(), index % 4 == 0 ? 0.0 : -0.0);
      return FillPlain(row, 0, 2, random);
    case Values::kSpike:
      std::fill(row.begin(), row.end(), 0.0);
      row[static_cast<size_t>(any())] = 64;
      return;
    case Values::kRowScales: {
      constexpr double kScales[] = {1, 1000, 0.001, 30};
      return FillPlain(row, 0, kScales[index % 4], random);
    }
  }
}

}  // namespace

std::vector<double> InputValues(Values values, DataType dtype, int64_t rows, int64_t width,
                                Random& random) {
  std::vector<double> all;
  all.reserve(static_cast<size_t>(rows * width));
  Row row(static_cast<size_t>(width));
  for (int64_t index = 0; index < rows; ++index) {
    FillRow(values, dtype, index, row, random);
    for (const double element : row) all.push_back(RoundTo(dtype, element));
  }
  return all;
}

std::vector<double> GateValues(Values values, const NormSpec& spec, int64_t rows, Random& random) {
  const bool saturated = values == Values::kSaturatedGate;
  // Before the norm, and in backward, the gate's product must itself fit into fp32.
  const bool bounded =
      spec.direction == Direction::kBackward || spec.gate_order == GateOrder::kGateThenNorm;
  constexpr double kExtremes[] = {-100, 100, -88, -89, 0, -1e4, 1e4, 20, -20, 3e38, -3e38};
  std::vector<double> all(static_cast<size_t>(rows * spec.width));
  for (double& z : all) {
    const bool extreme = saturated && random.Below(2) == 0;
    z = RoundTo(spec.z_dtype,
                extreme ? kExtremes[random.Below(bounded ? 9 : 11)] : random.Uniform(-4, 4));
    if (std::isinf(z)) z = std::copysign(60000, z);  // fp16
  }
  return all;
}

std::vector<double> PlainValues(DataType dtype, int64_t count, double low, double high,
                                Random& random) {
  std::vector<double> all(static_cast<size_t>(count));
  for (double& value : all) value = RoundTo(dtype, random.Uniform(low, high));
  return all;
}

}  // namespace normd
