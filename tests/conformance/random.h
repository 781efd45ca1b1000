// Random numbers that are the same on every platform (SplitMix64), so that a seed in a failure text
// is enough to repeat it.
#ifndef NORMD_TESTS_CONFORMANCE_RANDOM_H_
#define NORMD_TESTS_CONFORMANCE_RANDOM_H_

#include <cstdint>

namespace normd {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  // 0 to count - 1. REQUIRES: count > 0
  int64_t Below(int64_t count) {
    return static_cast<int64_t>(Next() % static_cast<uint64_t>(count));
  }

  // [low, high)
  double Uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(Next() >> 11) * 0x1p-53);
  }

 private:
  uint64_t state_;
};

}  // namespace normd

#endif  // NORMD_TESTS_CONFORMANCE_RANDOM_H_
