#include "tests/cases/cases_main.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/cases/case_accounting.h"
#include "tests/cases/case_run.h"
#include "tests/cases/large_cases.h"
#include "tests/cases/norm_case.h"
#include "tests/conformance/checker.h"

namespace normd {
namespace {

using Runner = std::vector<std::string> (*)(const NormCase&);

class CaseTest : public testing::Test {
 public:
  CaseTest(const NormCase& norm_case, Runner runner) : case_(norm_case), runner_(runner) {}

  void TestBody() override {
    const std::vector<std::string> faults = runner_(case_);
    EXPECT_TRUE(faults.empty()) << case_.id << " (" << case_.kind << ")\n" << Lines(faults);
  }

 private:
  const NormCase& case_;
  const Runner runner_;
};

void Register(const NormCase& norm_case, const std::string& name, Runner runner) {
  testing::RegisterTest(
      "Cases", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
      [&norm_case, runner]() -> testing::Test* { return new CaseTest(norm_case, runner); });
}

struct CaseFlags {
  std::string path;
  bool large = false;
};

// Takes our flags out of the command line.
CaseFlags TakeFlags(int& argc, char** argv) {
  const std::string self = argv[0];
  const size_t slash = self.rfind('/');
  CaseFlags flags;
  flags.path = (slash == std::string::npos ? "" : self.substr(0, slash + 1)) + "norm_cases.json";
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--large") {
      flags.large = true;
    } else if (argument.starts_with("--cases=")) {
      flags.path = argument.substr(argument.find('=') + 1);
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  return flags;
}

void RegisterSmall(const std::vector<NormCase>& cases) {
  RegisterAccounting(cases);
  for (const NormCase& norm_case : cases) {
    if (norm_case.tier == "large" || RunsElsewhere(norm_case)) continue;
    Register(norm_case, norm_case.id, RunCase);
  }
}

// What does not fit the device is named, not run.
bool RegisterLarge(const std::vector<NormCase>& cases, const BackendFactory& factory) {
  const auto backend = factory(0);
  if (!backend.ok()) {
    std::fprintf(stderr, "no backend to test: %s\n", backend.status().ToString().c_str());
    return false;
  }
  const int64_t memory = (*backend)->info().memory_bytes;
  for (const NormCase& norm_case : cases) {
    const bool long_strides = norm_case.Has("row_stride");
    if (norm_case.tier != "large" && !long_strides) continue;
    const int64_t needed = long_strides ? BytesOfLongStrides(norm_case) : BytesNeeded(norm_case);
    if (needed > memory - memory / 16) {
      std::printf("%s needs %lld bytes of device memory, %s has %lld: not run\n",
                  norm_case.id.c_str(), static_cast<long long>(needed),
                  (*backend)->info().name.c_str(), static_cast<long long>(memory));
      continue;
    }
    Register(norm_case, norm_case.id + (long_strides ? "_LongStrides" : "_Large"),
             long_strides ? RunLongStrides : RunLargeCase);
  }
  return true;
}

}  // namespace

int RunCases(int argc, char** argv, BackendFactory factory) {
  const CaseFlags flags = TakeFlags(argc, argv);
  const auto cases = LoadCases(flags.path);
  if (!cases.ok()) {
    std::fprintf(stderr, "%s\n", cases.status().ToString().c_str());
    return 2;
  }
  if (!flags.large) {
    RegisterSmall(*cases);
  } else if (!RegisterLarge(*cases, factory)) {
    return 1;
  }
  return RunSuite(argc, argv, std::move(factory));
}

}  // namespace normd
