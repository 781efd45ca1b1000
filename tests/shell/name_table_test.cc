#include "server/telemetry/name_table.h"

#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace normd {
namespace {

TEST(NameTable, NumbersNamesByTheirText) {
  static const char again[] = "row_tiled";  // the same text at another address
  NameTable table;
  EXPECT_EQ(table.Find("row_tiled"), 0u);
  EXPECT_EQ(table.Find("single_row"), 1u);
  EXPECT_EQ(table.Find(again), 0u);
  EXPECT_EQ(table.Name(1), "single_row");
  EXPECT_EQ(table.Name(2), "");
}

TEST(NameTable, PastTheCapEverythingIsOther) {
  std::vector<std::string> names;
  for (size_t i = 0; i < NameTable::kMaxNames + 5; ++i) names.push_back("k" + std::to_string(i));
  NameTable table;
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(table.Find(names[i].c_str()), std::min(i, NameTable::kMaxNames));
  }
  EXPECT_EQ(table.Name(NameTable::kMaxNames), "other");
}

TEST(NameTable, ManyThreadsAgree) {
  static constexpr const char* kNames[] = {"a", "b", "c", "d"};
  NameTable table;
  std::vector<std::vector<size_t>> found(8, std::vector<size_t>(4));
  std::vector<std::thread> threads;
  for (size_t t = 0; t < found.size(); ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 4; ++i) found[t][(i + t) % 4] = table.Find(kNames[(i + t) % 4]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& numbers : found) EXPECT_EQ(numbers, found[0]);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(table.Name(found[0][i]), kNames[i]);
}

}  // namespace
}  // namespace normd
