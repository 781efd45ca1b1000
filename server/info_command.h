// `normd info`: prints what a server says about itself.
#ifndef NORMD_SERVER_INFO_COMMAND_H_
#define NORMD_SERVER_INFO_COMMAND_H_

#include <string>

#include "absl/time/time.h"

namespace normd {

// Returns kExitOk, or kExitFailed when the server does not answer.
int InfoCommand(const std::string& address, absl::Duration timeout);

}  // namespace normd

#endif  // NORMD_SERVER_INFO_COMMAND_H_
