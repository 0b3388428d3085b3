#ifndef ARMATURE_TESTS_SUPPORT_DAEMON_PROCESS_H_
#define ARMATURE_TESTS_SUPPORT_DAEMON_PROCESS_H_

// The real daemon in a child process, on a temporary data directory.

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "armature/client/client.h"
#include "tests/support/temp_dir.h"

namespace armature::test {

// How a process ended.
struct Ended {
  int exit_code = -1;  // minus the number of the signal, if one ended the process
  std::string out;
  std::string err;
};

// The daemon's binary: $ARMATURED, or else the one built with this test.
std::string DaemonPath();

// Runs the daemon with these flags until it exits. After 30 seconds kills it and throws std::runtime_error.
Ended RunDaemon(const std::vector<std::string>& flags);

// A daemon that serves on free ports of 127.0.0.1. It ends with this object, at the latest with this program. With
// $ARMATURE_TEST_STORE, rados://POOL, its database is in a namespace of its own there instead of data_dir().
//
// Thread-safety: thread-compatible.
// Errors: after a timeout of 30 seconds, throws std::runtime_error with the daemon's stderr.
class DaemonProcess {
 public:
  // Starts on an empty directory. `flags` are added at each start.
  explicit DaemonProcess(std::vector<std::string> flags = {}) : DaemonProcess(std::move(flags), {}) {}
  // `security`: credentials and access key of the client; its other members are ignored.
  DaemonProcess(std::vector<std::string> flags, client::ClientOptions security);
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  // A client of the running daemon. The address changes with each start. Calls are not retried.
  const client::Client& client() const { return *client_; }
  const std::string& address() const { return address_; }
  // The address of the HTTP/JSON front end, HOST:PORT.
  const std::string& http_address() const { return http_address_; }
  // The address of --metrics_listen; empty without the flag.
  const std::string& metrics_address() const { return metrics_address_; }
  std::string data_dir() const { return directory_.path("data"); }

  // A client with other credentials.
  client::Client ConnectWith(const client::ClientOptions& security) const;
  // The daemon's stderr.
  std::string ReadStderr() const;

  // Sends SIGHUP without waiting.
  void Hangup();
  // Sends SIGKILL and waits for the end.
  void Kill();
  // Sends SIGTERM and waits for the end. Returns the exit code.
  int Stop();
  // Starts again on the same directory. Stops a running daemon first.
  void Restart();

 private:
  void Start();
  int Signal(int signal);

  std::vector<std::string> flags_;
  client::ClientOptions security_;
  TempDir directory_;
  std::vector<std::string> place_flags_;
  pid_t pid_ = -1;
  std::string address_;
  std::string http_address_;
  std::string metrics_address_;
  std::optional<client::Client> client_;
};

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_DAEMON_PROCESS_H_
