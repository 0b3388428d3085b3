#ifndef ARMATURE_TESTS_SUPPORT_DAEMON_PROCESS_H_
#define ARMATURE_TESTS_SUPPORT_DAEMON_PROCESS_H_

// The real daemon in a process of its own, on a temporary data directory.

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "armature/client/client.h"

namespace armature::test {

// How a process ended.
struct Ended {
  int exit_code = -1;  // Minus the number of the signal, if one ended it.
  std::string out;
  std::string err;
};

// A directory of its own below $TMPDIR, removed with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The daemon's binary: $ARMATURED, or else the one built with this test.
std::string DaemonPath();

// Runs the daemon with these flags until it ends by itself; kills it, and throws std::runtime_error, after 30 seconds.
Ended RunDaemon(const std::vector<std::string>& flags);

// A daemon that serves on free ports of 127.0.0.1. It ends with this object, at the latest with this program.
//
// Thread-safety: thread-compatible.
// Errors: what does not happen within 30 seconds throws std::runtime_error with all that the daemon wrote to stderr.
class DaemonProcess {
 public:
  // Starts on an empty directory. `flags` are added at each start.
  explicit DaemonProcess(std::vector<std::string> flags = {}) : DaemonProcess(std::move(flags), {}) {}
  // `security`: the client's credentials and access key; its other members do not count.
  DaemonProcess(std::vector<std::string> flags, client::ClientOptions security);
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  // Of the running daemon; the address changes with each start. No call is repeated.
  const client::Client& client() const { return *client_; }
  const std::string& address() const { return address_; }
  // Of the original protocol, HOST:PORT.
  const std::string& http_address() const { return http_address_; }
  std::string data_dir() const { return (directory_.path() / "data").string(); }

  // Another client of it, with other credentials.
  client::Client ConnectWith(const client::ClientOptions& security) const;
  // All that it has written to stderr.
  std::string ReadStderr() const;

  // SIGHUP; does not wait.
  void Hangup();
  // SIGKILL, and waits for the end.
  void Kill();
  // SIGTERM, waits for the end, and tells the exit code.
  int Stop();
  // Starts again on the same directory; stops the daemon before, if it runs.
  void Restart();

 private:
  void Start();
  int Signal(int signal);

  std::vector<std::string> flags_;
  client::ClientOptions security_;
  TemporaryDirectory directory_;
  pid_t pid_ = -1;
  std::string address_;
  std::string http_address_;
  std::optional<client::Client> client_;
};

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_DAEMON_PROCESS_H_
