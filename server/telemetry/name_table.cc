#include "server/telemetry/name_table.h"

#include <cstring>

namespace normd {

size_t NameTable::Find(const char* name) {
  for (size_t i = 0; i < kMaxNames; ++i) {
    const char* known = names_[i].load(std::memory_order_acquire);
    // On a failed exchange `known` becomes the name that another thread put there.
    if (known == nullptr &&
        names_[i].compare_exchange_strong(known, name, std::memory_order_acq_rel)) {
      return i;
    }
    if (known == name || std::strcmp(known, name) == 0) return i;
  }
  return kMaxNames;
}

std::string NameTable::Name(size_t number) const {
  if (number >= kMaxNames) return "other";
  const char* const name = names_[number].load(std::memory_order_acquire);
  return name == nullptr ? "" : name;
}

}  // namespace normd
