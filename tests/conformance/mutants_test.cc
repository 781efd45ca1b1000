// The suite itself under test: it accepts a right backend and rejects one with any known fault.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/axes.h"
#include "tests/conformance/batch_check.h"
#include "tests/conformance/checker.h"
#include "tests/conformance/naive_backend.h"
#include "tests/conformance/workload.h"

namespace normd {
namespace {

constexpr int kPoints = 1000;
constexpr int64_t kMaxElements = 1 << 13;

std::string NamesOf(const std::set<Fault>& faults) {
  std::string names;
  for (const Fault fault : faults) names += std::string(" ") + Name(fault);
  return names;
}

std::vector<std::string> Check(Fault fault, const Workload& workload, const Results& right) {
  const std::unique_ptr<Backend> backend = NewNaiveBackend(fault);
  Launcher launcher(*backend);
  const auto outcome = launcher.Run(workload.spec, {workload.segment}, workload.memory);
  if (!outcome.ok()) return {outcome.status().ToString()};
  return FaultsOf(workload.spec, workload.segment.operands, right, outcome->segments.front());
}

TEST(Mutants, PointsAcceptTheRightBackendAndRejectEachFault) {
  std::set<Fault> alive;
  for (int i = 1; i < static_cast<int>(Fault::kEpsOfFirstSegment); ++i) {
    alive.insert(static_cast<Fault>(i));
  }
  uint64_t seed = kPointSeed;
  for (const Point& point : CoveringPoints(kPoints, kPointSeed, kMaxElements)) {
    const Workload workload = MakeWorkload(point, seed++);
    const Results right = RunOracle(workload.spec, workload.segment.operands);
    const std::vector<std::string> faults = Check(Fault::kNone, workload, right);
    EXPECT_TRUE(faults.empty()) << Label(point) << " seed " << seed - 1 << "\n" << Lines(faults);
    std::erase_if(alive, [&](Fault fault) { return !Check(fault, workload, right).empty(); });
  }
  EXPECT_TRUE(alive.empty()) << "not found:" << NamesOf(alive);
}

TEST(Mutants, BatchChecksAcceptTheRightBackendAndRejectEachFault) {
  std::set<Fault> alive = {Fault::kEpsOfFirstSegment, Fault::kWeightOfFirstSegment,
                           Fault::kSumOrderFromBatch};
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const std::unique_ptr<Backend> right = NewNaiveBackend(Fault::kNone);
    Launcher launcher(*right);
    const std::vector<std::string> faults = BatchFaults(launcher, seed, 20);
    EXPECT_TRUE(faults.empty()) << "seed " << seed << "\n" << Lines(faults);
    std::erase_if(alive, [&](Fault fault) {
      const std::unique_ptr<Backend> backend = NewNaiveBackend(fault);
      Launcher faulty(*backend);
      return !BatchFaults(faulty, seed, 20).empty();
    });
  }
  EXPECT_TRUE(alive.empty()) << "not found:" << NamesOf(alive);
}

}  // namespace
}  // namespace normd
