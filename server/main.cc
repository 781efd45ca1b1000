// The `normd` binary: picks the subcommand and reads its flags.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/build_info.h"
#include "server/config.h"
#include "server/exit_codes.h"
#include "server/flag_sources.h"
#include "server/flags.h"
#include "server/health_command.h"
#include "server/info_command.h"
#include "server/serve_command.h"
#include "server/stop_signals.h"

namespace normd {
namespace {

constexpr char kUsage[] = R"(normd: normalization ops (LayerNorm, RMSNorm) as a gRPC service

  normd serve [flags]    run a server
  normd health [flags]   ask a server whether it serves
  normd info [flags]     print what a server says about itself
  normd --version        print the version
  normd SUBCOMMAND --help

Each flag can also be given as the environment variable NORMD_<FLAG>, or in the file that --flagfile
names, one --flag=value a line. The command line goes before the environment, the environment before
the file, the file before the default.

Exit codes
  serve   0 stopped as told; 1 could not start; 2 a flag is wrong; 3 the drain deadline passed with
          requests unanswered; 4 the device was lost
  health  0 serving; 1 not serving; 2 unreachable, or a flag is wrong
  info    0 answered; 1 not answered; 2 a flag is wrong
)";

constexpr char kFlagFileHelp[] =
    "  --flagfile\n      A file with one --flag=value a line; # starts a comment line.\n"
    "      default empty; environment NORMD_FLAGFILE\n";

int UsageError(absl::string_view text) {
  std::fprintf(stderr, "normd: %s\n", std::string(text).c_str());
  return kExitUsage;
}

int RunServe() {
  const absl::StatusOr<ServeConfig> config = MakeServeConfig();
  if (!config.ok()) return UsageError(config.status().message());
  return ServeCommand(*config);
}

int RunHealth() {
  return HealthCommand(absl::GetFlag(FLAGS_addr), absl::GetFlag(FLAGS_service),
                       absl::GetFlag(FLAGS_timeout));
}

int RunInfo() { return InfoCommand(absl::GetFlag(FLAGS_addr), absl::GetFlag(FLAGS_timeout)); }

struct Subcommand {
  std::string_view name;
  absl::Span<const FlagSpec> (*flags)();
  int (*run)();
};

constexpr Subcommand kSubcommands[] = {{"serve", ServeFlags, RunServe},
                                       {"health", HealthFlags, RunHealth},
                                       {"info", InfoFlags, RunInfo}};

int Run(const Subcommand& subcommand, absl::Span<const std::string_view> arguments) {
  const absl::Span<const FlagSpec> flags = subcommand.flags();
  for (const std::string_view argument : arguments) {
    if (argument != "--help") continue;
    std::printf("normd %s\n\n%s%s", std::string(subcommand.name).c_str(), FlagHelp(flags).c_str(),
                kFlagFileHelp);
    return kExitOk;
  }
  if (absl::Status status = SetFlags(flags, arguments, ProcessEnvironment); !status.ok()) {
    return UsageError(status.message());
  }
  return subcommand.run();
}

int Main(const std::vector<std::string_view>& arguments) {
  if (arguments.empty()) {
    std::fputs(kUsage, stderr);
    return kExitUsage;
  }
  if (arguments[0] == "--help") {
    std::fputs(kUsage, stdout);
    return kExitOk;
  }
  if (arguments[0] == "--version") {
    std::printf("normd %s (%s; %s)\n", kVersion, kCommit, kBuild);
    return kExitOk;
  }
  for (const Subcommand& subcommand : kSubcommands) {
    if (arguments[0] == subcommand.name) {
      return Run(subcommand, absl::MakeConstSpan(arguments).subspan(1));
    }
  }
  return UsageError(absl::StrCat("'", std::string(arguments[0]),
                                 "' is not a subcommand; normd --help lists them"));
}

}  // namespace
}  // namespace normd

int main(int argc, char** argv) {
  normd::StopSignals::Block();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe of the log must not end the server
  // gRPC's own lines would stand between ours; what they say comes back as a status anyhow.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  return normd::Main({argv + 1, argv + argc});
}
