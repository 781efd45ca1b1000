#include "server/port_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/telemetry/json.h"

namespace normd {

absl::StatusOr<PortFile> PortFile::Write(const std::string& path,
                                         absl::Span<const std::string> addresses,
                                         const std::string& metrics) {
  std::string text = absl::StrCat("{\"pid\":", getpid(), ",\"grpc\":[");
  for (const std::string& address : addresses) {
    if (text.back() != '[') text += ',';
    AppendJsonString(address, text);
  }
  text += "],\"metrics\":";
  AppendJsonString(metrics, text);
  text += "}\n";
  const std::string unfinished = absl::StrCat(path, ".", getpid());
  std::ofstream file(unfinished);
  file << text;
  file.close();
  if (!file || std::rename(unfinished.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    unlink(unfinished.c_str());
    return absl::FailedPreconditionError(
        absl::StrCat("--port_file: cannot write '", path, "': ", std::strerror(reason)));
  }
  PortFile written;
  written.path_ = path;
  return written;
}

PortFile::~PortFile() {
  if (!path_.empty()) unlink(path_.c_str());
}

}  // namespace normd
