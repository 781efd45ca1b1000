#include <cstdlib>
#include <string>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "client/cpp/client.h"

namespace normd {
namespace {

bool Apply() {
#ifdef __GLIBC__
  const char* wish = std::getenv("NORMD_TUNE_ALLOCATOR");
  if (wish != nullptr && std::string(wish) == "0") return false;
  constexpr int kGrowBytes = 64 << 20;
  return mallopt(M_TRIM_THRESHOLD, -1) == 1 &&   // never give memory back
         mallopt(M_TOP_PAD, kGrowBytes) == 1 &&  // grow in large steps
         mallopt(M_MMAP_MAX, 0) == 1 &&          // large blocks from the heap as well
         mallopt(M_ARENA_MAX, 1) == 1;           // one heap for gRPC's threads and ours
#else
  return false;
#endif
}

}  // namespace

bool TuneAllocator() {
  static const bool applied = Apply();
  return applied;
}

}  // namespace normd
