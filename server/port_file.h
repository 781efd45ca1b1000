// PortFile: tells whoever started the server where it listens.
//
//   {"pid":123,"grpc":["127.0.0.1:41234","unix:/tmp/x"],"metrics":"127.0.0.1:40001"}
#ifndef NORMD_SERVER_PORT_FILE_H_
#define NORMD_SERVER_PORT_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace normd {

class PortFile {
 public:
  PortFile() = default;  // no file

  // Writes the file so that nobody sees half of it. `metrics` is empty when there are none.
  static absl::StatusOr<PortFile> Write(const std::string& path,
                                        absl::Span<const std::string> addresses,
                                        const std::string& metrics);

  PortFile(PortFile&& other) noexcept { *this = static_cast<PortFile&&>(other); }
  PortFile& operator=(PortFile&& other) noexcept {
    path_.swap(other.path_);
    return *this;
  }
  ~PortFile();  // removes it

 private:
  std::string path_;
};

}  // namespace normd

#endif  // NORMD_SERVER_PORT_FILE_H_
