// `normd health`: asks a server's health service, for probes and scripts.
#ifndef NORMD_SERVER_HEALTH_COMMAND_H_
#define NORMD_SERVER_HEALTH_COMMAND_H_

#include <string>

#include "absl/time/time.h"

namespace normd {

// Prints one line and returns kExitOk (serving), kExitFailed (not serving, or no such service) or
// kExitUnreachable.
int HealthCommand(const std::string& address, const std::string& service, absl::Duration timeout);

}  // namespace normd

#endif  // NORMD_SERVER_HEALTH_COMMAND_H_
