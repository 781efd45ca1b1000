#include "server/listen_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace normd {
namespace {

absl::Status Wrong(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' ", why));
}

absl::StatusOr<ListenAddress> ParseUnix(absl::string_view text, absl::string_view path) {
  if (path.empty() || path.front() != '/') return Wrong(text, "is not unix:/absolute/path");
  if (path.size() > kMaxUnixPath) {
    return Wrong(text, absl::StrCat("has a path of ", path.size(),
                                    " bytes; a Unix socket takes at most ", kMaxUnixPath));
  }
  ListenAddress address;
  address.text = std::string(text);
  address.unix_path = std::string(path);
  return address;
}

}  // namespace

bool ListenAddress::is_local() const {
  if (is_unix() || host == "localhost") return true;
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

absl::StatusOr<ListenAddress> ParseListenAddress(absl::string_view text) {
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "unix:")) return ParseUnix(text, rest);
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return Wrong(text, "is neither host:port nor unix:/path");
  absl::string_view host = text.substr(0, colon);
  ListenAddress address;
  if (absl::ConsumePrefix(&host, "[")) {
    if (!absl::ConsumeSuffix(&host, "]")) return Wrong(text, "lacks the ] of an IPv6 address");
  } else if (host.find(':') != absl::string_view::npos) {
    return Wrong(text, "needs brackets around an IPv6 address: [::1]:50051");
  }
  if (host.empty()) return Wrong(text, "names no host; 0.0.0.0 or [::] is every interface");
  if (!absl::SimpleAtoi(text.substr(colon + 1), &address.port) || address.port < 0 ||
      address.port > 65535) {
    return Wrong(text, "has no port of 0 to 65535");
  }
  address.text = std::string(text);
  address.host = std::string(host);
  return address;
}

std::string DiagnoseBind(const ListenAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const std::string port = absl::StrCat(address.port);
  const int failure = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (failure != 0) return gai_strerror(failure);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int socket_fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (socket_fd < 0) return std::strerror(errno);
    const int bound = bind(socket_fd, at->ai_addr, at->ai_addrlen);
    const int reason = errno;
    close(socket_fd);
    if (bound != 0) return std::strerror(reason);
  }
  return "it cannot be bound";
}

}  // namespace normd
