#include "server/socket_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace normd {
namespace {

std::string LockPath(const std::string& socket_path) { return socket_path + ".lock"; }

// Whether the locked file is still what the path names: its last owner removes it.
bool IsAt(int file, const std::string& path) {
  struct stat held {};
  struct stat named {};
  return fstat(file, &held) == 0 && stat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

absl::StatusOr<int> LockFile(const std::string& socket_path) {
  const std::string path = LockPath(socket_path);
  while (true) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("cannot make '", path, "': ", std::strerror(errno)));
    }
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
      close(file);
      return absl::UnavailableError(
          absl::StrCat("another server listens on 'unix:", socket_path, "'"));
    }
    if (IsAt(file, path)) return file;
    close(file);
  }
}

// Removes a socket that nobody owns any more.
absl::Status RemoveStale(const std::string& socket_path) {
  struct stat found {};
  if (lstat(socket_path.c_str(), &found) != 0) return absl::OkStatus();
  if (!S_ISSOCK(found.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", socket_path, "' exists and is not a socket"));
  }
  if (unlink(socket_path.c_str()) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot remove the old '", socket_path, "': ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SocketLock> SocketLock::Take(const std::string& socket_path) {
  const absl::StatusOr<int> file = LockFile(socket_path);
  if (!file.ok()) return file.status();
  if (absl::Status status = RemoveStale(socket_path); !status.ok()) {
    unlink(LockPath(socket_path).c_str());
    close(*file);
    return status;
  }
  return SocketLock(*file, socket_path);
}

SocketLock::~SocketLock() {
  if (file_ < 0) return;
  unlink(socket_path_.c_str());
  unlink(LockPath(socket_path_).c_str());
  close(file_);
}

}  // namespace normd
