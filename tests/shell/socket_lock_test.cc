#include "server/socket_lock.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace normd {
namespace {

using ::testing::HasSubstr;

class SocketLockTest : public testing::Test {
 protected:
  SocketLockTest() {
    char folder[] = "/tmp/normd-lock-XXXXXX";
    folder_ = mkdtemp(folder);
    path_ = folder_ + "/s";
  }
  ~SocketLockTest() override {
    unlink(path_.c_str());
    unlink((path_ + ".lock").c_str());
    rmdir(folder_.c_str());
  }

  static bool Exists(const std::string& path) {
    struct stat found {};
    return lstat(path.c_str(), &found) == 0;
  }

  // A socket with nobody behind it, as a killed server leaves it.
  void LeaveSocket() {
    const int file = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    ASSERT_EQ(bind(file, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    close(file);
  }

  std::string folder_;
  std::string path_;
};

TEST_F(SocketLockTest, IsHeldByOneAtATime) {
  auto first = std::make_unique<absl::StatusOr<SocketLock>>(SocketLock::Take(path_));
  ASSERT_TRUE(first->ok()) << first->status();
  const auto second = SocketLock::Take(path_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(path_));
  first.reset();
  EXPECT_TRUE(SocketLock::Take(path_).ok());
}

TEST_F(SocketLockTest, RemovesAStaleSocket) {
  LeaveSocket();
  const auto lock = SocketLock::Take(path_);
  ASSERT_TRUE(lock.ok()) << lock.status();
  EXPECT_FALSE(Exists(path_));
}

TEST_F(SocketLockTest, LeavesAFileAlone) {
  std::ofstream(path_) << "precious";
  const auto lock = SocketLock::Take(path_);
  ASSERT_FALSE(lock.ok());
  EXPECT_THAT(std::string(lock.status().message()), HasSubstr("not a socket"));
  EXPECT_TRUE(Exists(path_));
  EXPECT_FALSE(Exists(path_ + ".lock"));
}

TEST_F(SocketLockTest, DoesNotFollowALinkInPlaceOfTheLock) {
  const std::string target = folder_ + "/target";
  ASSERT_EQ(symlink(target.c_str(), (path_ + ".lock").c_str()), 0);
  EXPECT_FALSE(SocketLock::Take(path_).ok());
  EXPECT_FALSE(Exists(target));
}

TEST_F(SocketLockTest, LeavesNothingBehind) {
  {
    const auto lock = SocketLock::Take(path_);
    ASSERT_TRUE(lock.ok());
    LeaveSocket();
    EXPECT_TRUE(Exists(path_ + ".lock"));
  }
  EXPECT_FALSE(Exists(path_));
  EXPECT_FALSE(Exists(path_ + ".lock"));
}

TEST_F(SocketLockTest, SaysWhenTheFolderIsMissing) {
  const auto lock = SocketLock::Take(folder_ + "/none/s");
  ASSERT_FALSE(lock.ok());
  EXPECT_THAT(std::string(lock.status().message()), HasSubstr("No such file"));
}

}  // namespace
}  // namespace normd
