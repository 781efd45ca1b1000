#include "server/flag_sources.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <vector>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/reflection.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace normd {
namespace {

constexpr std::string_view kFlagFile = "flagfile";

absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

// A value and where it came from: empty for the command line.
struct Setting {
  std::string value;
  std::string source;
};
using Settings = std::map<std::string, Setting, std::less<>>;

absl::Status Error(std::string_view flag, std::string_view text, const std::string& source) {
  return absl::InvalidArgumentError(absl::StrCat("--", ToAbsl(flag), ": ", ToAbsl(text),
                                                 source.empty() ? "" : " (from ", source,
                                                 source.empty() ? "" : ")"));
}

bool Known(absl::Span<const FlagSpec> flags, std::string_view name) {
  for (const FlagSpec& spec : flags) {
    if (spec.name == name) return true;
  }
  return name == kFlagFile;
}

bool IsSwitch(std::string_view name) {
  const absl::CommandLineFlag* const flag = absl::FindCommandLineFlag(ToAbsl(name));
  return flag != nullptr && flag->IsOfType<bool>();
}

bool IsList(std::string_view name) {
  const absl::CommandLineFlag* const flag = absl::FindCommandLineFlag(ToAbsl(name));
  return flag != nullptr && flag->IsOfType<std::vector<std::string>>();
}

void Put(std::string_view name, std::string_view value, const std::string& source,
         Settings& settings) {
  const auto [at, inserted] = settings.try_emplace(std::string(name));
  if (!inserted && IsList(name)) {
    at->second.value = absl::StrCat(at->second.value, ",", ToAbsl(value));
  } else {
    at->second = {std::string(value), source};
  }
}

// One argument; `next` is what follows it. Says whether it used `next` up.
absl::StatusOr<bool> PutArgument(absl::Span<const FlagSpec> flags, std::string_view argument,
                                 const std::string_view* next, const std::string& source,
                                 Settings& settings) {
  if (!argument.starts_with("--") || argument.size() == 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", ToAbsl(argument), "' is not a flag; flags start with --"));
  }
  argument.remove_prefix(2);
  const size_t equals = argument.find('=');
  const std::string_view name = argument.substr(0, equals);
  if (Known(flags, name)) {
    if (equals != std::string_view::npos) {
      Put(name, argument.substr(equals + 1), source, settings);
      return false;
    }
    if (IsSwitch(name)) {
      Put(name, "true", source, settings);
      return false;
    }
    if (next == nullptr) return Error(name, "needs a value", source);
    Put(name, *next, source, settings);
    return true;
  }
  if (equals == std::string_view::npos && name.starts_with("no")) {
    const std::string_view positive = name.substr(2);
    if (Known(flags, positive) && IsSwitch(positive)) {
      Put(positive, "false", source, settings);
      return false;
    }
  }
  return Error(name, "there is no such flag", source);
}

absl::Status ReadArguments(absl::Span<const FlagSpec> flags,
                           absl::Span<const std::string_view> arguments, Settings& settings) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view* const next = i + 1 < arguments.size() ? &arguments[i + 1] : nullptr;
    const absl::StatusOr<bool> used_next = PutArgument(flags, arguments[i], next, "", settings);
    if (!used_next.ok()) return used_next.status();
    if (*used_next) ++i;
  }
  return absl::OkStatus();
}

void ReadEnvironment(absl::Span<const FlagSpec> flags, const Environment& environment,
                     Settings& settings) {
  const auto read = [&](std::string_view flag) {
    const std::string variable = EnvironmentName(flag);
    if (const auto value = environment(variable)) Put(flag, *value, variable, settings);
  };
  for (const FlagSpec& spec : flags) read(spec.name);
  read(kFlagFile);
}

absl::Status ReadFile(absl::Span<const FlagSpec> flags, const Setting& file, Settings& settings) {
  std::ifstream lines(file.value);
  if (!lines) {
    return Error(kFlagFile, absl::StrCat("cannot read '", file.value, "'"), file.source);
  }
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const absl::string_view stripped = absl::StripAsciiWhitespace(line);
    if (stripped.empty() || stripped.front() == '#') continue;
    const std::string source = absl::StrCat(file.value, ":", number);
    const absl::StatusOr<bool> used_next =
        PutArgument(flags, {stripped.data(), stripped.size()}, nullptr, source, settings);
    if (!used_next.ok()) return used_next.status();
    if (settings.contains(kFlagFile)) {
      return Error(kFlagFile, "a flag file cannot name another", source);
    }
  }
  return absl::OkStatus();
}

absl::Status Apply(const Settings& settings) {
  for (const auto& [name, setting] : settings) {
    std::string error;
    if (!absl::FindCommandLineFlag(name)->ParseFrom(setting.value, &error)) {
      return Error(name, absl::StrCat("'", setting.value, "' cannot be read as a value"),
                   setting.source);
    }
  }
  return absl::OkStatus();
}

// Takes the flag file's name out of the settings.
std::optional<Setting> TakeFlagFile(Settings& settings) {
  const auto at = settings.find(kFlagFile);
  if (at == settings.end()) return std::nullopt;
  Setting setting = at->second;
  settings.erase(at);
  return setting;
}

}  // namespace

std::optional<std::string> ProcessEnvironment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

absl::Status SetFlags(absl::Span<const FlagSpec> flags,
                      absl::Span<const std::string_view> arguments,
                      const Environment& environment) {
  Settings from_arguments;
  Settings from_environment;
  Settings from_file;
  if (auto status = ReadArguments(flags, arguments, from_arguments); !status.ok()) return status;
  ReadEnvironment(flags, environment, from_environment);
  const std::optional<Setting> environment_file = TakeFlagFile(from_environment);
  const std::optional<Setting> argument_file = TakeFlagFile(from_arguments);
  if (const auto& file = argument_file ? argument_file : environment_file) {
    if (auto status = ReadFile(flags, *file, from_file); !status.ok()) return status;
  }
  // Merge keeps what is there: the source that wins goes first.
  Settings settings = from_arguments;
  settings.merge(from_environment);
  settings.merge(from_file);
  if (auto status = Apply(settings); !status.ok()) return status;
  for (const FlagSpec& spec : flags) {
    if (auto status = CheckFlag(spec); !status.ok()) {
      const auto at = settings.find(spec.name);
      const std::string source = at == settings.end() ? "" : at->second.source;
      if (source.empty()) return status;
      return absl::InvalidArgumentError(absl::StrCat(status.message(), " (from ", source, ")"));
    }
  }
  return absl::OkStatus();
}

}  // namespace normd
