#include "server/build_info.h"

namespace normd {

// Defined by server/CMakeLists.txt.
const char* const kVersion = NORMD_VERSION;
const char* const kCommit = NORMD_COMMIT;
const char* const kBuild = NORMD_BUILD;

}  // namespace normd
