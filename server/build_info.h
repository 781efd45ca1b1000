// What this binary was built from.
#ifndef NORMD_SERVER_BUILD_INFO_H_
#define NORMD_SERVER_BUILD_INFO_H_

namespace normd {

extern const char* const kVersion;  // "0.1.0"
extern const char* const kCommit;   // of git when CMake configured, or "unknown"
extern const char* const kBuild;    // "RelWithDebInfo, GNU 12.2.0, CPU"

}  // namespace normd

#endif  // NORMD_SERVER_BUILD_INFO_H_
