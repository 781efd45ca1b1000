// NORMD_CHECK: ends the process when an invariant of the program is broken. Never for input from
// outside, which gets an error (field_error.h).
#ifndef NORMD_KERNELS_CHECK_H_
#define NORMD_KERNELS_CHECK_H_

#include <cstdio>
#include <cstdlib>

namespace normd {

[[noreturn]] inline void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
  std::abort();
}

}  // namespace normd

#define NORMD_CHECK(condition)                              \
  do {                                                      \
    if (!(condition)) {                                     \
      ::normd::CheckFailed(#condition, __FILE__, __LINE__); \
    }                                                       \
  } while (false)

#endif  // NORMD_KERNELS_CHECK_H_
