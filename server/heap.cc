#include "server/heap.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace normd {

void KeepFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_TOP_PAD, 64 << 20);
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_ARENA_MAX, 1);
#endif
}

}  // namespace normd
