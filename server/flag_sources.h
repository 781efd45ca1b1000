// Sets flags from the command line, the environment and a flag file. What stands first wins:
// command line, environment (NORMD_<FLAG>), flag file, default.
#ifndef NORMD_SERVER_FLAG_SOURCES_H_
#define NORMD_SERVER_FLAG_SOURCES_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/flags.h"

namespace normd {

// The value of an environment variable.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
std::optional<std::string> ProcessEnvironment(const std::string& name);

// Sets those of `flags` that the sources name, and checks the range of all. `arguments` is what
// follows the subcommand: --name=value, --name value, and for switches --name and --noname.
// --flagfile=PATH, or NORMD_FLAGFILE, names a file with one --name=value a line, where empty lines
// and lines that start with # count for nothing. A flag that is repeated in one source: the last
// one wins; of flags that are lists all count.
//
// INVALID_ARGUMENT with one line that names the flag, and the source when it is not the command
// line. Variables that begin with NORMD_ and name no flag are left alone: Kubernetes makes such
// ones for a service called normd.
absl::Status SetFlags(absl::Span<const FlagSpec> flags,
                      absl::Span<const std::string_view> arguments, const Environment& environment);

}  // namespace normd

#endif  // NORMD_SERVER_FLAG_SOURCES_H_
