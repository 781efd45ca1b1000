// Addresses that the server listens on: host:port, or unix:/path.
#ifndef NORMD_SERVER_LISTEN_ADDRESS_H_
#define NORMD_SERVER_LISTEN_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace normd {

// Bytes that the path of a Unix socket may have: sun_path less its end.
inline constexpr size_t kMaxUnixPath = 107;

struct ListenAddress {
  std::string text;       // as given; gRPC understands it
  std::string unix_path;  // empty: TCP
  std::string host;       // TCP: without the brackets of IPv6
  int port = 0;           // TCP

  bool is_unix() const { return !unix_path.empty(); }
  // Whether only this machine can reach it: a Unix socket, localhost, 127.0.0.0/8, ::1.
  bool is_local() const;
};

// INVALID_ARGUMENT says what is wrong with the address, and quotes it.
absl::StatusOr<ListenAddress> ParseListenAddress(absl::string_view text);

// Why nobody can listen on a TCP address: the system's words, such as "Address already in use".
std::string DiagnoseBind(const ListenAddress& address);

}  // namespace normd

#endif  // NORMD_SERVER_LISTEN_ADDRESS_H_
