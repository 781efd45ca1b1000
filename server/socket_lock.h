// SocketLock: the right to listen on the path of a Unix socket.
//
// gRPC takes a path over from whoever listens there. A lock on <path>.lock, which ends with its
// process, keeps two servers from one path; what a dead server left there is removed.
#ifndef NORMD_SERVER_SOCKET_LOCK_H_
#define NORMD_SERVER_SOCKET_LOCK_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace normd {

class SocketLock {
 public:
  // UNAVAILABLE: another server has the path. FAILED_PRECONDITION: something that is no socket is
  // there, or the folder cannot be written. The texts name the path.
  static absl::StatusOr<SocketLock> Take(const std::string& socket_path);

  SocketLock(SocketLock&& other) noexcept { *this = std::move(other); }
  SocketLock& operator=(SocketLock&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(socket_path_, other.socket_path_);
    return *this;
  }
  // Removes the socket and the lock file.
  ~SocketLock();

 private:
  SocketLock(int file, std::string socket_path)
      : file_(file), socket_path_(std::move(socket_path)) {}

  int file_ = -1;
  std::string socket_path_;
};

}  // namespace normd

#endif  // NORMD_SERVER_SOCKET_LOCK_H_
