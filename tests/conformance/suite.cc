#include "tests/conformance/suite.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"

namespace normd {
namespace {

struct Frame {
  SuiteOptions options;
  BackendFactory factory;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Launcher> launcher;
  int64_t points = 0;
};

Frame& TheFrame() {
  static Frame frame;
  return frame;
}

// Takes our flags out of the command line. False: one is malformed.
bool TakeFlags(int& argc, char** argv, SuiteOptions& options) {
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--points=reduced") {
      options = {.points = 240, .max_elements = 1 << 12, .repeats = 5, .reduced = true};
    } else if (argument.starts_with("--repeats=")) {
      const std::string number(argument.substr(argument.find('=') + 1));
      if (!absl::SimpleAtoi(number, &options.repeats) || options.repeats < 1) return false;
    } else if (argument.starts_with("--points=")) {
      if (argument != "--points=full") return false;
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  return true;
}

}  // namespace

const SuiteOptions& Options() { return TheFrame().options; }
Backend& BackendUnderTest() { return *TheFrame().backend; }
Launcher& SharedLauncher() { return *TheFrame().launcher; }
absl::StatusOr<std::unique_ptr<Backend>> AnotherBackend(int index) {
  return TheFrame().factory(index);
}
void CountPoints(int64_t count) { TheFrame().points += count; }

int RunSuite(int argc, char** argv, BackendFactory factory) {
  Frame& frame = TheFrame();
  if (!TakeFlags(argc, argv, frame.options)) {
    std::fprintf(stderr, "usage: [--points=full|reduced] [--repeats=N] [--gtest_...]\n");
    return 2;
  }
  frame.factory = std::move(factory);
  // Parametrised tests are generated here: the flags must be known.
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) {
    std::fprintf(stderr, "unknown argument %s\n", argv[1]);
    return 2;
  }
  if (!GTEST_FLAG_GET(list_tests)) {
    absl::StatusOr<std::unique_ptr<Backend>> backend = frame.factory(0);
    if (!backend.ok()) {
      std::fprintf(stderr, "no backend to test: %s\n", backend.status().ToString().c_str());
      return 1;
    }
    frame.backend = std::move(*backend);
    frame.launcher = std::make_unique<Launcher>(*frame.backend);
  }
  const int code = RUN_ALL_TESTS();
  if (frame.points > 0) {
    std::printf("conformance points: %lld (%s)\n", static_cast<long long>(frame.points),
                frame.backend->info().name.c_str());
  }
  frame.launcher.reset();
  frame.backend.reset();
  return code;
}

}  // namespace normd
