#include "tests/client/server_process.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "nlohmann/json.hpp"

namespace normd {
namespace {

constexpr auto kStartTimeout = std::chrono::seconds(60);

[[noreturn]] void Give(const std::string& why) {
  std::fprintf(stderr, "no server to test against: %s\n", why.c_str());
  std::abort();
}

int ExitCode(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ServerProcess::ServerProcess(const std::vector<std::string>& flags) {
  const char* binary = std::getenv("NORMD_BINARY");
  if (binary == nullptr) Give("NORMD_BINARY is not set");
  // Short: the path of a Unix socket has at most 107 bytes.
  char folder[] = "/tmp/normd-client-XXXXXX";
  if (mkdtemp(folder) == nullptr) Give("mkdtemp failed");
  folder_ = folder;
  const std::string port_file = folder_ + "/ports.json";
  std::vector<std::string> arguments = {binary,
                                        "serve",
                                        "--listen=127.0.0.1:0,unix:" + folder_ + "/normd.sock",
                                        "--metrics_listen=",
                                        "--devices=cpu",
                                        "--drain_delay=0s",
                                        "--staging_bytes=134217728",
                                        "--max_message_bytes=33554432",
                                        "--log_level=warning",
                                        "--port_file=" + port_file};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  if (posix_spawn(&pid_, binary, nullptr, nullptr, argv.data(), environ) != 0) {
    Give(std::string("cannot start ") + binary);
  }
  const auto end = std::chrono::steady_clock::now() + kStartTimeout;
  // Written atomically: a file that exists is complete.
  while (!std::filesystem::exists(port_file)) {
    if (!Running()) Give("it ended with exit code " + std::to_string(exit_code_));
    if (std::chrono::steady_clock::now() > end) Give("it was not ready in time");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::ifstream file(port_file);
  const nlohmann::json ports = nlohmann::json::parse(file);
  for (const auto& address : ports["grpc"]) {
    const auto text = address.get<std::string>();
    (text.rfind("unix:", 0) == 0 ? unix_address_ : address_) = text;
  }
}

ServerProcess::~ServerProcess() {
  if (Running()) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  std::filesystem::remove_all(folder_);
}

bool ServerProcess::Running() const {
  int status = 0;
  if (pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_) {
    exit_code_ = ExitCode(status);
    pid_ = -1;
  }
  return pid_ > 0;
}

int ServerProcess::Stop() {
  int status = 0;
  if (Running()) {
    kill(pid_, SIGTERM);
    waitpid(pid_, &status, 0);
    exit_code_ = ExitCode(status);
    pid_ = -1;
  }
  return exit_code_;
}

}  // namespace normd
