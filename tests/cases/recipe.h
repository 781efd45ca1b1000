// Recipe: the Python expressions of norm_cases.json that give the elements of a tensor, such as
// "nan if (r==1 and c==0) else ((c*3+(r%7)*5)%11)-5". Evaluated in double with Python's meaning of
// %, //, comparisons, and/or/not, conditional expressions and tuple indexes; names r, c, R, C, nan,
// inf; functions u, sqrt, abs, min, max, int. Parsed once, evaluated for each element; immutable
// and thread-safe.
#ifndef NORMD_TESTS_CASES_RECIPE_H_
#define NORMD_TESTS_CASES_RECIPE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace normd {

// Where the expression is evaluated: row r and column c of R rows and C columns.
struct RecipePoint {
  double r = 0;
  double c = 0;
  double R = 0;
  double C = 0;
};

class Recipe {
 public:
  // A node of the parsed expression.
  class Node {
   public:
    virtual ~Node() = default;
    virtual double Value(const RecipePoint& at) const = 0;
  };

  // INVALID_ARGUMENT with the position where the text is no expression of the language above.
  static absl::StatusOr<Recipe> Parse(absl::string_view text);

  double Value(const RecipePoint& at) const { return root_->Value(at); }

  // [rows, columns], row-major. Rows repeat after `period` rows when it is not 0.
  std::vector<double> Tensor(int64_t rows, int64_t columns, int64_t period) const;

 private:
  explicit Recipe(std::shared_ptr<const Node> root) : root_(std::move(root)) {}

  std::shared_ptr<const Node> root_;
};

}  // namespace normd

#endif  // NORMD_TESTS_CASES_RECIPE_H_
