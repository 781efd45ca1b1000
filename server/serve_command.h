// `normd serve`: runs a server until it is told to stop.
#ifndef NORMD_SERVER_SERVE_COMMAND_H_
#define NORMD_SERVER_SERVE_COMMAND_H_

#include "server/config.h"

namespace normd {

// Returns the exit code (exit_codes.h).
// REQUIRES: StopSignals::Block was called before any thread was started
int ServeCommand(const ServeConfig& config);

}  // namespace normd

#endif  // NORMD_SERVER_SERVE_COMMAND_H_
