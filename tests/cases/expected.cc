#include "tests/cases/expected.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/oracle/bounded.h"
#include "tests/oracle/element.h"

namespace normd {
namespace {

using Json = nlohmann::json;

double Allowance(const NormCase& norm_case, DataType dtype, double right) {
  return norm_case.absolute + norm_case.relative * std::abs(right) + UlpOf(dtype, right) / 2;
}

// Compares elements of one output, by their place.
class SlotCheck {
 public:
  SlotCheck(const NormCase& norm_case, const SlotBytes& got, std::string name,
            std::vector<std::string>& faults)
      : case_(norm_case), got_(got), name_(std::move(name)), faults_(faults) {}

  void Element(int64_t at, const Json& value) {
    const double right = NumberOf(value);
    if (at >= got_.size()) {
      faults_.push_back(absl::StrCat(name_, ": has only ", got_.size(), " elements"));
      return;
    }
    if (MeetsRule(case_, got_.dtype, right, got_.at(at))) return;
    faults_.push_back(
        absl::StrFormat("%s: element %d is %.9g, right is %.9g", name_, at, got_.at(at), right));
  }

  // A list of numbers or of lists of numbers: all elements.
  void All(const Json& values) {
    int64_t at = 0;
    for (const Json& value : values) {
      if (!value.is_array()) Element(at++, value);
      for (const Json& inner : value.is_array() ? value : Json::array()) Element(at++, inner);
    }
    if (at == got_.size()) return;
    faults_.push_back(absl::StrCat(name_, ": has ", got_.size(), " elements, right is ", at));
  }

  void Samples(const Json& samples) {
    for (const Json& sample : samples) {
      Element(sample[0].get<int64_t>() * case_.columns + sample[1].get<int64_t>(), sample[2]);
    }
  }

  void FirstAndLast(const Json& values) {
    const auto half = static_cast<int64_t>(values.size() / 2);
    for (int64_t i = 0; i < half; ++i) {
      Element(i, values[static_cast<size_t>(i)]);
      Element(got_.size() - half + i, values[static_cast<size_t>(half + i)]);
    }
  }

  // Sum of the elements of row 0, or of their squares.
  void RowSum(double right, bool squares) {
    double sum = 0;
    double allowed = 1e-9 * std::abs(right);  // digits of the file
    for (int64_t i = 0; i < std::min(case_.columns, got_.size()); ++i) {
      const double element = got_.at(i);
      const double allowance = Allowance(case_, got_.dtype, element);
      sum += squares ? element * element : element;
      allowed += squares ? 2 * std::abs(element) * allowance + allowance * allowance : allowance;
    }
    if (std::abs(sum - right) <= allowed) return;
    faults_.push_back(absl::StrFormat("%s: row 0 sums to %.9g%s, right is %.9g", name_, sum,
                                      squares ? " (squares)" : "", right));
  }

 private:
  const NormCase& case_;
  const SlotBytes& got_;
  const std::string name_;
  std::vector<std::string>& faults_;
};

Slot OutputNamed(const std::string& name) {
  if (name == "dx") return Slot::kDx;
  if (name == "dz") return Slot::kDz;
  if (name == "dweight") return Slot::kDweight;
  if (name == "dbias") return Slot::kDbias;
  if (name == "mean") return Slot::kMeanOut;
  if (name == "rstd") return Slot::kRstdOut;
  return Slot::kY;  // y, row0_sum, row0_sumsq
}

Operands Rows(const Operands& operands, int64_t first, int64_t count, int64_t columns) {
  Operands part;
  part.rows = count;
  part.eps = operands.eps;
  part.weight = operands.weight;
  part.bias = operands.bias;
  const auto take = [&](const std::vector<double>& from, std::vector<double>& to) {
    if (from.empty()) return;
    to.assign(from.begin() + first * columns, from.begin() + (first + count) * columns);
  };
  take(operands.x, part.x);
  take(operands.z, part.z);
  take(operands.dy, part.dy);
  return part;
}

void Repeat(int64_t size, Reference& reference) {
  const size_t period = reference.value.size();
  reference.value.resize(static_cast<size_t>(size));
  reference.error.resize(static_cast<size_t>(size));
  for (size_t i = period; i < reference.value.size(); ++i) {
    reference.value[i] = reference.value[i - period];
    reference.error[i] = reference.error[i - period];
  }
}

// Adds `count` times what one row contributes.
void AddRows(const Reference& row, double count, double steps, Reference& sum) {
  sum.value.resize(row.value.size());
  sum.error.resize(row.value.size());
  for (size_t i = 0; i < row.value.size(); ++i) {
    sum.value[i] += count * row.value[i];
    sum.error[i] += count * (row.error[i] + steps * std::abs(row.value[i]));
  }
}

}  // namespace

double NumberOf(const Json& value) {
  if (value.is_number()) return value;
  const std::string text = value;
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  return absl::StartsWith(text, "-") ? -infinity : infinity;
}

bool MeetsRule(const NormCase& norm_case, DataType dtype, double right, double got) {
  if (std::isnan(right)) return std::isnan(got);
  if (std::isinf(right)) return got == right;
  return std::abs(got - right) <= Allowance(norm_case, dtype, right);
}

std::vector<std::string> ExpectedFaults(const NormCase& norm_case, const SegmentOutcome& outcome) {
  std::vector<std::string> faults;
  for (const auto& [key, value] : norm_case.expected.items()) {
    if (key == "row_ids" || key == "rule") continue;  // where samples were taken; see period
    const std::string name = key.substr(0, key.find('_'));
    SlotCheck check(norm_case, outcome.outputs[IndexOf(OutputNamed(name))], name, faults);
    if (key == "row0_sum" || key == "row0_sumsq") {
      check.RowSum(value, key == "row0_sumsq");
    } else if (absl::EndsWith(key, "_samples_row_col_value")) {
      check.Samples(value);
    } else if (absl::EndsWith(key, "_first_last4")) {
      check.FirstAndLast(value);
    } else if (key == name) {
      check.All(value);
    } else {
      faults.push_back(absl::StrCat("expected.", key, ": not understood"));
    }
  }
  return faults;
}

Results RunOracle(const NormCase& norm_case, const NormSpec& spec, const Operands& operands) {
  const int64_t period = norm_case.period;
  if (period == 0 || operands.rows <= period) return RunOracle(spec, operands);
  Results results = RunOracle(spec, Rows(operands, 0, period, spec.width));
  const int64_t elements = operands.rows * spec.width;
  for (Reference* reference : {&results.y, &results.dx, &results.dz}) {
    if (!reference->value.empty()) Repeat(elements, *reference);
  }
  for (Reference* reference : {&results.mean, &results.rstd}) {
    if (!reference->value.empty()) Repeat(operands.rows * spec.groups(), *reference);
  }
  results.dweight = {};
  results.dbias = {};
  const double steps = SumSteps(static_cast<double>(operands.rows)) * kStep;
  for (int64_t row = 0; row < period; ++row) {
    const Results one = RunOracle(spec, Rows(operands, row, 1, spec.width));
    const auto count = static_cast<double>((operands.rows - row + period - 1) / period);
    AddRows(one.dweight, count, steps, results.dweight);
    AddRows(one.dbias, count, steps, results.dbias);
  }
  return results;
}

}  // namespace normd
