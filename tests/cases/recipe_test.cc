#include "tests/cases/recipe.h"

#include <gtest/gtest.h>

#include <cmath>

namespace normd {
namespace {

double At(const char* text, double r, double c) {
  const auto recipe = Recipe::Parse(text);
  EXPECT_TRUE(recipe.ok()) << recipe.status();
  return recipe.ok() ? recipe->Value({r, c, 4, 8}) : std::nan("");
}

TEST(Recipe, ArithmeticHasPythonsPrecedence) {
  EXPECT_EQ(At("1+2*3", 0, 0), 7);
  EXPECT_EQ(At("(1+2)*3", 0, 0), 9);
  EXPECT_EQ(At("10-4-3", 0, 0), 3);
  EXPECT_EQ(At("-2*3", 0, 0), -6);
  EXPECT_EQ(At("8/4/2", 0, 0), 1);
  EXPECT_EQ(At("1e30*2", 0, 0), 2e30);
  EXPECT_EQ(At("1000+c*1e-3", 0, 5), 1000 + 5 * 1e-3);
}

TEST(Recipe, ModuloAndFloorDivisionFollowTheDivisor) {
  EXPECT_EQ(At("-7%3", 0, 0), -1 * At("7%3", 0, 0) + 3);  // (-7) % 3 == 2
  EXPECT_EQ(At("(-7)%3", 0, 0), 2);
  EXPECT_EQ(At("7%(-3)", 0, 0), -2);
  EXPECT_EQ(At("(-7)//2", 0, 0), -4);
  EXPECT_EQ(At("7//2", 0, 0), 3);
  EXPECT_EQ(At("5.5%2", 0, 0), 1.5);
}

TEST(Recipe, ConditionsChooseAndChain) {
  EXPECT_EQ(At("1 if r==0 else 2", 0, 0), 1);
  EXPECT_EQ(At("1 if r==0 else 2 if r==1 else 3", 2, 0), 3);
  EXPECT_EQ(At("(1 if r==0 else 2)+c", 1, 5), 7);
  EXPECT_EQ(At("0.1 if c%2 else 0.3", 0, 3), 0.1);
  EXPECT_EQ(At("1 if 0<=c<4 else 2", 0, 3), 1);
  EXPECT_EQ(At("1 if 0<=c<4 else 2", 0, 4), 2);
  EXPECT_EQ(At("1 if (r==1 and c==3) else 0", 1, 3), 1);
  EXPECT_EQ(At("1 if r==1 or c==3 else 0", 0, 3), 1);
  EXPECT_EQ(At("1 if not r==1 else 0", 1, 0), 0);
  EXPECT_EQ(At("1 if r!=1 and c>=2 and c<=2 else 0", 0, 2), 1);
}

TEST(Recipe, TuplesAreIndexed) {
  EXPECT_EQ(At("1e30*(1,-1,2,-2)[c]", 0, 3), -2e30);
  EXPECT_EQ(At("(c-2.5)*(1,10,100,1000)[r]", 2, 0), -250);
  EXPECT_EQ(At("(1,2,3)[-1]", 0, 0), 3);
  EXPECT_TRUE(std::isnan(At("(1,2)[2]", 0, 0)));
}

TEST(Recipe, NamesAndFunctions) {
  EXPECT_EQ(At("R*100+C", 0, 0), 408);
  EXPECT_TRUE(std::isnan(At("nan", 0, 0)));
  EXPECT_TRUE(std::isinf(At("-inf", 0, 0)));
  EXPECT_EQ(At("u(0)", 0, 0), 0);
  EXPECT_EQ(At("u(1)", 0, 0), 2654435761.0 / 4294967296.0);
  EXPECT_EQ(At("u(2)", 0, 0), (2 * 2654435761.0 - 4294967296.0) / 4294967296.0);
  EXPECT_EQ(At("sqrt(16)+abs(-2)+int(-1.5)", 0, 0), 5);
  EXPECT_EQ(At("min(3,1,2)+max(3,1,2)", 0, 0), 4);
}

TEST(Recipe, TensorIsRowMajorAndRepeatsItsPeriod) {
  const auto recipe = Recipe::Parse("10*r+c");
  ASSERT_TRUE(recipe.ok());
  EXPECT_EQ(recipe->Tensor(2, 3, 0), (std::vector<double>{0, 1, 2, 10, 11, 12}));
  EXPECT_EQ(recipe->Tensor(3, 2, 2), (std::vector<double>{0, 1, 10, 11, 0, 1}));
}

TEST(Recipe, OtherTextsAreRefused) {
  for (const char* text : {"", "1+", "(1", "(1,2)", "f(1)", "1 if r", "x", "1 2", "u(1,2)",
                           "min(1)", "1 ** 2", "__import__('os')", "(1,2)[", "()"}) {
    EXPECT_FALSE(Recipe::Parse(text).ok()) << text;
  }
}

}  // namespace
}  // namespace normd
