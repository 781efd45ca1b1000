#include "tests/cases/norm_case.h"

#include <fstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/cases/recipe.h"
#include "tests/oracle/element.h"

namespace normd {
namespace {

using Json = nlohmann::json;

constexpr const char* kTensors[] = {"weight", "bias", "z", "dy"};

DataType TypeOf(const std::string& name) {
  if (name == "fp16") return DataType::kFloat16;
  return name == "bf16" ? DataType::kBFloat16 : DataType::kFloat32;
}

// "layer_norm", "gated_rms_norm_bwd": the kind, the gate and the direction.
void SetOp(const std::string& op, NormSpec& spec) {
  spec.direction = absl::EndsWith(op, "_bwd") ? Direction::kBackward : Direction::kForward;
  spec.kind = absl::StrContains(op, "rms_norm") ? NormKind::kRmsNorm : NormKind::kLayerNorm;
  if (absl::StartsWith(op, "gated_")) spec.gate = GateActivation::kSilu;
}

NormSpec SpecOf(const Json& entry, const Json& recipes) {
  const Json& params = entry.at("params");
  NormSpec spec;
  SetOp(entry.at("op"), spec);
  spec.width = entry.at("cols");
  spec.group = params.value("group_size", spec.width);
  if (spec.has_gate()) {
    spec.gate_order =
        params.at("norm_before_gate") ? GateOrder::kNormThenGate : GateOrder::kGateThenNorm;
  }
  const std::string dtype = entry.at("dtype");
  const auto type_of = [&](const char* key) { return TypeOf(params.value(key, dtype)); };
  spec.dtype = TypeOf(dtype);
  spec.z_dtype = type_of("z_dtype");
  spec.dy_dtype = type_of("dy_dtype");
  spec.weight_dtype = spec.bias_dtype = type_of("weight_dtype");
  spec.dweight_dtype = spec.weight_dtype;
  spec.dbias_dtype = spec.bias_dtype;
  spec.has_weight = recipes.contains("weight");
  spec.has_bias = recipes.contains("bias");
  const bool backward = spec.direction == Direction::kBackward;
  spec.want_y = spec.want_rstd = !backward;
  spec.want_mean = !backward && spec.kind == NormKind::kLayerNorm;
  spec.want_dx = backward;
  spec.want_dz = backward && spec.has_gate();
  spec.want_dweight = backward && spec.has_weight;
  spec.want_dbias = backward && spec.has_bias;
  return spec;
}

// "row r behaves as row r mod 7"
int64_t PeriodOf(const Json& expected) {
  int64_t period = 0;
  if (!expected.is_object() || !expected.contains("rule")) return 0;
  const std::string rule = expected.at("rule");
  const size_t at = rule.rfind(' ');
  return absl::SimpleAtoi(rule.substr(at + 1), &period) ? period : 0;
}

NormCase Read(const Json& entry) {
  NormCase result;
  result.id = entry.at("id");
  result.tier = entry.at("tier");
  result.kind = entry.at("class");
  result.rows = entry.at("rows");
  result.columns = entry.at("cols");
  result.params = entry.at("params");
  result.eps = result.params.value("eps", 1e-5);
  result.expected = entry.value("expected", Json());
  result.period = PeriodOf(result.expected);
  const Json& tolerance = entry.contains("tol_strict") ? entry.at("tol_strict") : entry.at("tol");
  result.absolute = tolerance.at("abs");
  result.relative = tolerance.at("rel");
  result.recipes["x"] = entry.at("x_recipe");
  for (const char* tensor : kTensors) {
    const std::string key = absl::StrCat(tensor, "_recipe");
    if (result.params.contains(key)) result.recipes[tensor] = result.params.at(key);
  }
  if (entry.at("op") != "service") result.spec = SpecOf(entry, result.recipes);
  return result;
}

std::vector<double> Tensor(const NormCase& norm_case, const char* name, DataType dtype,
                           int64_t rows, int64_t columns) {
  const std::string text = norm_case.recipes.at(name);
  // The vectors of weights do not repeat: they are one row.
  const int64_t period = rows == 1 ? 0 : norm_case.period;
  return RoundedTo(dtype, Recipe::Parse(text)->Tensor(rows, columns, period));
}

}  // namespace

absl::StatusOr<std::vector<NormCase>> LoadCases(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  const Json entries = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!entries.is_array()) return absl::InvalidArgumentError(absl::StrCat(path, " is no array"));
  std::vector<NormCase> cases;
  for (const Json& entry : entries) {
    try {
      cases.push_back(Read(entry));
    } catch (const Json::exception& error) {
      return absl::InvalidArgumentError(absl::StrCat(entry.value("id", "?"), ": ", error.what()));
    }
    for (const auto& [tensor, text] : cases.back().recipes.items()) {
      const absl::Status status = Recipe::Parse(text.get<std::string>()).status();
      if (status.ok()) continue;
      return absl::InvalidArgumentError(absl::StrCat(cases.back().id, ": ", status.ToString()));
    }
  }
  return cases;
}

Operands MakeOperands(const NormCase& norm_case, const NormSpec& spec, int64_t rows) {
  Operands operands;
  operands.rows = rows;
  operands.eps = static_cast<float>(norm_case.eps);
  const auto matrix = [&](const char* name, DataType dtype) {
    return Tensor(norm_case, name, dtype, rows, spec.width);
  };
  operands.x = matrix("x", spec.dtype);
  if (spec.has_gate()) operands.z = matrix("z", spec.z_dtype);
  if (norm_case.recipes.contains("dy")) operands.dy = matrix("dy", spec.dy_dtype);
  if (spec.has_weight) {
    operands.weight = Tensor(norm_case, "weight", spec.weight_dtype, 1, spec.width);
  }
  if (spec.has_bias) operands.bias = Tensor(norm_case, "bias", spec.bias_dtype, 1, spec.width);
  return operands;
}

}  // namespace normd
