#include "tests/cases/recipe.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace normd {
namespace {

using Node = Recipe::Node;
using Tree = std::shared_ptr<const Node>;

template <typename F>
class Computed final : public Node {
 public:
  explicit Computed(F value) : value_(std::move(value)) {}
  double Value(const RecipePoint& at) const override { return value_(at); }

 private:
  F value_;
};

template <typename F>
Tree Make(F value) {
  return std::make_shared<Computed<F>>(std::move(value));
}

// The remainder has the sign of the divisor; a // b is the floor.
double PythonModulo(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double PseudoRandom(double i) { return std::fmod(i * 2654435761.0, 4294967296.0) / 4294967296.0; }

// Recursive descent, one method a level of precedence.
class Parser {
 public:
  explicit Parser(absl::string_view text) : text_(text) {}

  absl::StatusOr<Tree> Parse() {
    Tree tree = Conditional();
    SkipSpace();
    if (tree != nullptr && at_ == text_.size()) return tree;
    return absl::InvalidArgumentError(
        absl::StrCat("recipe \"", std::string(text_), "\": not understood from column ", at_));
  }

 private:
  void SkipSpace() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool Take(absl::string_view symbol) {
    SkipSpace();
    if (text_.substr(at_, symbol.size()) != symbol) return false;
    at_ += symbol.size();
    return true;
  }

  static bool InWord(char character) {
    return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
  }

  bool TakeWord(absl::string_view word) {
    SkipSpace();
    if (text_.substr(at_, word.size()) != word) return false;
    const size_t end = at_ + word.size();
    if (end < text_.size() && InWord(text_[end])) return false;
    at_ = end;
    return true;
  }

  // a if condition else b
  Tree Conditional() {
    Tree value = Or();
    if (value == nullptr || !TakeWord("if")) return value;
    Tree condition = Or();
    if (condition == nullptr || !TakeWord("else")) return nullptr;
    Tree otherwise = Conditional();
    if (otherwise == nullptr) return nullptr;
    return Make([=](const RecipePoint& at) {
      return condition->Value(at) != 0 ? value->Value(at) : otherwise->Value(at);
    });
  }

  Tree Or() {
    Tree left = And();
    while (left != nullptr && TakeWord("or")) {
      Tree right = And();
      if (right == nullptr) return nullptr;
      left = Make([left, right](const RecipePoint& at) {
        const double value = left->Value(at);
        return value != 0 ? value : right->Value(at);
      });
    }
    return left;
  }

  Tree And() {
    Tree left = Not();
    while (left != nullptr && TakeWord("and")) {
      Tree right = Not();
      if (right == nullptr) return nullptr;
      left = Make([left, right](const RecipePoint& at) {
        const double value = left->Value(at);
        return value == 0 ? value : right->Value(at);
      });
    }
    return left;
  }

  Tree Not() {
    if (!TakeWord("not")) return Comparison();
    Tree operand = Not();
    if (operand == nullptr) return nullptr;
    return Make([operand](const RecipePoint& at) { return operand->Value(at) == 0 ? 1.0 : 0.0; });
  }

  using Compare = bool (*)(double, double);
  Compare TakeComparison() {
    if (Take("==")) return [](double a, double b) { return a == b; };
    if (Take("!=")) return [](double a, double b) { return a != b; };
    if (Take("<=")) return [](double a, double b) { return a <= b; };
    if (Take(">=")) return [](double a, double b) { return a >= b; };
    if (Take("<")) return [](double a, double b) { return a < b; };
    if (Take(">")) return [](double a, double b) { return a > b; };
    return nullptr;
  }

  // Chains as Python does: a < b < c is a < b and b < c.
  Tree Comparison() {
    Tree left = Sum();
    Tree all;
    while (left != nullptr) {
      const Compare compare = TakeComparison();
      if (compare == nullptr) return all == nullptr ? left : all;
      Tree right = Sum();
      if (right == nullptr) return nullptr;
      Tree link = Make([=](const RecipePoint& at) {
        return compare(left->Value(at), right->Value(at)) ? 1.0 : 0.0;
      });
      all = all == nullptr ? link : Make([=](const RecipePoint& at) {
        return all->Value(at) != 0 ? link->Value(at) : 0.0;
      });
      left = right;
    }
    return nullptr;
  }

  Tree Sum() {
    Tree left = Product();
    while (left != nullptr) {
      const bool adds = Take("+");
      if (!adds && !Take("-")) return left;
      Tree right = Product();
      if (right == nullptr) return nullptr;
      const double sign = adds ? 1 : -1;
      left = Make([=](const RecipePoint& at) { return left->Value(at) + sign * right->Value(at); });
    }
    return nullptr;
  }

  using Operation = double (*)(double, double);
  Operation TakeProduct() {
    if (Take("//")) return [](double a, double b) { return std::floor(a / b); };
    if (Take("/")) return [](double a, double b) { return a / b; };
    if (Take("*")) return [](double a, double b) { return a * b; };
    if (Take("%")) return PythonModulo;
    return nullptr;
  }

  Tree Product() {
    Tree left = Signed();
    while (left != nullptr) {
      const Operation operation = TakeProduct();
      if (operation == nullptr) return left;
      Tree right = Signed();
      if (right == nullptr) return nullptr;
      left =
          Make([=](const RecipePoint& at) { return operation(left->Value(at), right->Value(at)); });
    }
    return nullptr;
  }

  Tree Signed() {
    if (Take("+")) return Signed();
    if (!Take("-")) return Atom();
    Tree operand = Signed();
    if (operand == nullptr) return nullptr;
    return Make([operand](const RecipePoint& at) { return -operand->Value(at); });
  }

  Tree Atom() {
    SkipSpace();
    if (at_ == text_.size()) return nullptr;
    if (Take("(")) return Parenthesis();
    if (InWord(text_[at_]) && std::isalpha(static_cast<unsigned char>(text_[at_])) != 0) {
      return NameOrCall();
    }
    return Number();
  }

  Tree Number() {
    double value = 0;
    const char* first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
    if (error != std::errc()) return nullptr;
    at_ += static_cast<size_t>(end - first);
    return Make([value](const RecipePoint&) { return value; });
  }

  // Up to the closing parenthesis: expressions separated by commas. Empty: a syntax error.
  std::vector<Tree> Arguments() {
    std::vector<Tree> arguments;
    do {
      arguments.push_back(Conditional());
      if (arguments.back() == nullptr) return {};
    } while (Take(","));
    if (!Take(")")) return {};
    return arguments;
  }

  // (a) or (a, b, ...)[index]
  Tree Parenthesis() {
    const std::vector<Tree> elements = Arguments();
    if (elements.empty()) return nullptr;
    if (elements.size() == 1 && !Take("[")) return elements.front();
    if (elements.size() > 1 && !Take("[")) return nullptr;
    Tree index = Conditional();
    if (index == nullptr || !Take("]")) return nullptr;
    return Make([=](const RecipePoint& at) {
      const double i = index->Value(at);
      const auto size = static_cast<double>(elements.size());
      const double from_start = i < 0 ? i + size : i;
      // An index out of range has no value; NaN makes every comparison with it fail.
      if (!(from_start >= 0 && from_start < size)) return std::numeric_limits<double>::quiet_NaN();
      return elements[static_cast<size_t>(from_start)]->Value(at);
    });
  }

  Tree NameOrCall() {
    if (TakeWord("r")) return Make([](const RecipePoint& at) { return at.r; });
    if (TakeWord("c")) return Make([](const RecipePoint& at) { return at.c; });
    if (TakeWord("R")) return Make([](const RecipePoint& at) { return at.R; });
    if (TakeWord("C")) return Make([](const RecipePoint& at) { return at.C; });
    if (TakeWord("nan")) {
      return Make([](const RecipePoint&) { return std::numeric_limits<double>::quiet_NaN(); });
    }
    if (TakeWord("inf")) {
      return Make([](const RecipePoint&) { return std::numeric_limits<double>::infinity(); });
    }
    if (TakeWord("u")) return Call1(PseudoRandom);
    if (TakeWord("sqrt")) return Call1([](double a) { return std::sqrt(a); });
    if (TakeWord("abs")) return Call1([](double a) { return std::abs(a); });
    if (TakeWord("int")) return Call1([](double a) { return std::trunc(a); });
    if (TakeWord("min")) return CallMany([](double a, double b) { return b < a ? b : a; });
    if (TakeWord("max")) return CallMany([](double a, double b) { return b > a ? b : a; });
    return nullptr;
  }

  Tree Call1(double (*function)(double)) {
    if (!Take("(")) return nullptr;
    const std::vector<Tree> arguments = Arguments();
    if (arguments.size() != 1) return nullptr;
    return Make([function, argument = arguments.front()](const RecipePoint& at) {
      return function(argument->Value(at));
    });
  }

  Tree CallMany(Operation function) {
    if (!Take("(")) return nullptr;
    const std::vector<Tree> arguments = Arguments();
    if (arguments.size() < 2) return nullptr;
    return Make([=](const RecipePoint& at) {
      double value = arguments.front()->Value(at);
      for (size_t i = 1; i < arguments.size(); ++i) {
        value = function(value, arguments[i]->Value(at));
      }
      return value;
    });
  }

  const absl::string_view text_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<Recipe> Recipe::Parse(absl::string_view text) {
  absl::StatusOr<Tree> tree = Parser(text).Parse();
  if (!tree.ok()) return tree.status();
  return Recipe(*std::move(tree));
}

std::vector<double> Recipe::Tensor(int64_t rows, int64_t columns, int64_t period) const {
  std::vector<double> values(static_cast<size_t>(rows * columns));
  const int64_t distinct = period == 0 ? rows : std::min(rows, period);
  RecipePoint at{0, 0, static_cast<double>(rows), static_cast<double>(columns)};
  for (int64_t i = 0; i < rows * columns; ++i) {
    if (i >= distinct * columns) {
      values[static_cast<size_t>(i)] = values[static_cast<size_t>(i - distinct * columns)];
      continue;
    }
    at.r = static_cast<double>(i / columns);
    at.c = static_cast<double>(i % columns);
    values[static_cast<size_t>(i)] = Value(at);
  }
  return values;
}

}  // namespace normd
