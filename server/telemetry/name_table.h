// NameTable: small numbers for names that the code makes up as it goes (kernels, reasons), so that
// they can index counters. Find is thread-safe and takes no lock.
#ifndef NORMD_SERVER_TELEMETRY_NAME_TABLE_H_
#define NORMD_SERVER_TELEMETRY_NAME_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace normd {

class NameTable {
 public:
  // Names that get a number of their own; every other one shares the number kMaxNames ("other").
  static constexpr size_t kMaxNames = 63;
  static constexpr size_t kNumbers = kMaxNames + 1;

  // The number of a name, the same for equal text; the first sight of a name gives it one.
  // REQUIRES: `name` is not null and has static storage
  size_t Find(const char* name);

  // The name of a number; empty when it was not given out.
  std::string Name(size_t number) const;

 private:
  std::atomic<const char*> names_[kMaxNames] = {};
};

}  // namespace normd

#endif  // NORMD_SERVER_TELEMETRY_NAME_TABLE_H_
