// ServerProcess: one `normd serve` on free ports of loopback, ended by its pid. Used by one thread.
#ifndef NORMD_TESTS_CLIENT_SERVER_PROCESS_H_
#define NORMD_TESTS_CLIENT_SERVER_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace normd {

class ServerProcess {
 public:
  // Starts the binary that NORMD_BINARY names, with these flags after the defaults, and waits until
  // it is ready. Ends the test program when it does not come up.
  explicit ServerProcess(const std::vector<std::string>& flags = {});
  ~ServerProcess();  // kills it if it still runs
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  const std::string& address() const { return address_; }            // "127.0.0.1:41234"
  const std::string& unix_address() const { return unix_address_; }  // "unix:/tmp/..."

  bool Running() const;
  // SIGTERM, waits, and returns the exit code.
  int Stop();

 private:
  std::string folder_;
  std::string address_;
  std::string unix_address_;
  mutable pid_t pid_ = -1;  // -1: has ended
  mutable int exit_code_ = -1;
};

}  // namespace normd

#endif  // NORMD_TESTS_CLIENT_SERVER_PROCESS_H_
