#include "server/telemetry/shape_table.h"

#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "server/telemetry/labels.h"

namespace normd {
namespace {

NormSpec Spec(int64_t width, NormKind kind = NormKind::kLayerNorm) {
  NormSpec spec;
  spec.kind = kind;
  spec.width = width;
  spec.group = width;
  return spec;
}

TEST(RowClass, IsTheLeastPowerOfFourThatHoldsTheRows) {
  EXPECT_EQ(RowClass(0), 0);
  EXPECT_EQ(RowClass(1), 0);
  EXPECT_EQ(RowClass(2), 1);
  EXPECT_EQ(RowClass(4), 1);
  EXPECT_EQ(RowClass(5), 2);
  EXPECT_EQ(RowClass(int64_t{1} << 20), 10);
  EXPECT_EQ(RowClass((int64_t{1} << 20) + 1), 11);
  EXPECT_EQ(RowClass(INT64_MAX), 31);
}

TEST(ShapeTable, GivesTheSameShapeForTheSameKey) {
  ShapeTable table(8);
  ShapeMetrics& shape = table.Find(Spec(64), 100);
  EXPECT_EQ(&table.Find(Spec(64), 200), &shape);  // the same class of rows
  EXPECT_EQ(shape.width, 64);
  EXPECT_EQ(shape.row_class, 4);
  EXPECT_EQ(table.size(), 1);
}

TEST(ShapeTable, TellsApartWhatItsKeyHolds) {
  ShapeTable table(64);
  std::set<ShapeMetrics*> shapes;
  NormSpec gated = Spec(64);
  gated.gate = GateActivation::kSilu;
  NormSpec backward = Spec(64);
  backward.direction = Direction::kBackward;
  NormSpec half = Spec(64);
  half.dtype = DataType::kFloat16;
  for (const NormSpec& spec :
       {Spec(64), Spec(65), Spec(kMaxWidth), Spec(64, NormKind::kRmsNorm), gated, backward, half}) {
    for (const int64_t rows : {int64_t{1}, int64_t{4}, INT64_MAX}) {
      shapes.insert(&table.Find(spec, rows));
    }
  }
  EXPECT_EQ(shapes.size(), 21u);
  EXPECT_EQ(table.size(), 21);
  EXPECT_EQ(table.overflowed(), 0);
}

TEST(ShapeTable, PastTheCapCountsUnderOther) {
  ShapeTable table(4);
  for (int64_t width = 1; width <= 4; ++width) table.Find(Spec(width), 1);
  ShapeMetrics& other = table.Find(Spec(5), 1);
  EXPECT_EQ(other.width, ShapeMetrics::kOther);
  EXPECT_EQ(&table.Find(Spec(6), 1000), &other);
  EXPECT_NE(&table.Find(Spec(6, NormKind::kRmsNorm), 1), &other);  // op stays known
  EXPECT_EQ(table.size(), 4);
  EXPECT_EQ(table.overflowed(), 3);
  EXPECT_EQ(table.Find(Spec(2), 1).width, 2);  // those inside stay
  EXPECT_EQ(table.Shapes().size(), 6u);
}

TEST(ShapeTable, ManyShapesKeepItBounded) {
  ShapeTable table(128);
  for (int64_t width = 1; width <= 100'000; ++width) table.Find(Spec(width), width);
  EXPECT_EQ(table.size(), 128);
  EXPECT_EQ(table.overflowed(), 100'000 - 128);
  EXPECT_EQ(table.Shapes().size(), 129u);
}

TEST(ShapeTable, CountsEveryObservationOfManyThreads) {
  constexpr int kThreads = 8;
  constexpr int64_t kWidths = 200;
  ShapeTable table(64);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < kWidths * 10; ++i) {
        table.Find(Spec(1 + (i + t * 7) % kWidths), 1).request_ns.Observe(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int64_t observed = 0;
  for (const ShapeMetrics* shape : table.Shapes()) observed += shape->request_ns.Read().count;
  EXPECT_EQ(observed, kThreads * kWidths * 10);
  EXPECT_EQ(table.size(), 64);
  EXPECT_EQ(table.Shapes().size(), 65u);
}

}  // namespace
}  // namespace normd
