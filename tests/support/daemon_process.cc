#include "tests/support/daemon_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace armature::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kWaitMax{30};
constexpr int kExecFailed = 127;

[[noreturn]] void ThrowErrno(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// False if nothing arrives before `give_up`.
bool WaitReadable(int fd, Clock::time_point give_up) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(give_up - Clock::now());
    if (left.count() <= 0) return false;
    pollfd entry{fd, POLLIN, 0};
    const int ready = poll(&entry, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) ThrowErrno("poll");
  }
}

// A pipe for stdout and a file for stderr, so that neither blocks the daemon.
struct Child {
  pid_t pid = -1;
  int out = -1;
};

Child Spawn(const std::vector<std::string>& flags, const std::filesystem::path& err_file) {
  const std::string path = DaemonPath();
  const std::string err_name = err_file.string();
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (const std::string& flag : flags) argv.push_back(const_cast<char*>(flag.c_str()));
  argv.push_back(nullptr);

  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) ThrowErrno("pipe");
  const pid_t pid = fork();
  if (pid < 0) ThrowErrno("fork");
  if (pid == 0) {
    // Only functions that are safe between fork and exec: gRPC may have started threads.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int err = open(err_name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (err < 0 || dup2(pipe_ends[1], STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0) _exit(kExecFailed);
    execv(path.c_str(), argv.data());
    _exit(kExecFailed);
  }
  close(pipe_ends[1]);
  return {pid, pipe_ends[0]};
}

// Waits for the end of a child. Nullopt after a timeout.
std::optional<int> WaitForEnd(pid_t pid) {
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) ThrowErrno("pidfd_open");
  const bool ended = WaitReadable(pidfd, Clock::now() + kWaitMax);
  close(pidfd);
  if (!ended) return std::nullopt;
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) ThrowErrno("waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Reads until `is_enough` is true of the text, end of file or a timeout.
template <class IsEnough>
std::string ReadUntil(int fd, IsEnough is_enough) {
  std::string text;
  const Clock::time_point give_up = Clock::now() + kWaitMax;
  while (!is_enough(text) && WaitReadable(fd, give_up)) {
    char buffer[4096];
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got == 0) break;
    if (got < 0 && errno != EINTR) ThrowErrno("read");
    if (got > 0) text.append(buffer, static_cast<size_t>(got));
  }
  return text;
}

// The complete line that begins with "ready"; empty if there is none. A daemon that waits for its database writes
// another line before.
std::string ReadyLine(const std::string& text) {
  const size_t begin = text.starts_with("ready ") ? 0 : text.find("\nready ");
  if (begin == std::string::npos) return {};
  const size_t end = text.find('\n', begin + 1);
  return end == std::string::npos ? "" : text.substr(begin, end + 1 - begin);
}

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Flags for a database of its own: in the directory, or in the pool that $ARMATURE_TEST_STORE names.
std::vector<std::string> PlaceFlags(const std::string& data_dir) {
  static std::atomic<int> last = 0;
  const std::string pool = Environment("ARMATURE_TEST_STORE");
  if (pool.empty()) return {"--data_dir=" + data_dir};
  // Killed daemons keep their lease for its time.
  return {"--store=" + pool + "/test." + std::to_string(getpid()) + "." + std::to_string(++last),
          "--rados_conf=" + Environment("ARMATURE_RADOS_CONF"), "--rados_user=" + Environment("ARMATURE_RADOS_USER"),
          "--lease_seconds=1"};
}

// The address after `name` in the daemon's ready line; empty if it is missing.
std::string AddressIn(const std::string& line, const std::string& name) {
  const size_t found = line.find(name);
  if (found == std::string::npos) return {};
  const size_t begin = found + name.size();
  return line.substr(begin, line.find_first_of(" \n", begin) - begin);
}

}  // namespace

std::string DaemonPath() {
  const char* const given = std::getenv("ARMATURED");
  return given != nullptr ? given : ARMATURED_PATH;
}

Ended RunDaemon(const std::vector<std::string>& flags) {
  const TempDir directory;
  const std::filesystem::path err_file = directory.path("stderr");
  std::vector<std::string> all_flags{"--http_listen=127.0.0.1:0"};
  all_flags.insert(all_flags.end(), flags.begin(), flags.end());
  const Child child = Spawn(all_flags, err_file);
  Ended ended;
  ended.out = ReadUntil(child.out, [](const std::string&) { return false; });
  close(child.out);
  const std::optional<int> exit_code = WaitForEnd(child.pid);
  ended.err = ReadFile(err_file);
  if (!exit_code.has_value()) {
    kill(child.pid, SIGKILL);
    waitpid(child.pid, nullptr, 0);
    throw std::runtime_error("the daemon did not end by itself:\n" + ended.out + ended.err);
  }
  ended.exit_code = *exit_code;
  return ended;
}

DaemonProcess::DaemonProcess(std::vector<std::string> flags, client::ClientOptions security)
    : flags_(std::move(flags)), security_(std::move(security)), place_flags_(PlaceFlags(data_dir())) {
  Start();
}

DaemonProcess::~DaemonProcess() { Kill(); }

void DaemonProcess::Start() {
  std::vector<std::string> flags = place_flags_;
  for (const char* flag : {"--grpc_listen=127.0.0.1:0", "--http_listen=127.0.0.1:0"}) flags.emplace_back(flag);
  flags.insert(flags.end(), flags_.begin(), flags_.end());
  const Child child = Spawn(flags, directory_.path("stderr"));
  pid_ = child.pid;
  const std::string text = ReadUntil(child.out, [](const std::string& read) { return !ReadyLine(read).empty(); });
  close(child.out);
  const std::string line = ReadyLine(text);
  if (line.empty()) {
    Kill();
    throw std::runtime_error("the daemon does not serve; it wrote:\n" + text + ReadStderr());
  }
  address_ = AddressIn(line, " grpc=");
  http_address_ = AddressIn(line, " http=");
  metrics_address_ = AddressIn(line, " metrics=");
  client_ = ConnectWith(security_);
}

client::Client DaemonProcess::ConnectWith(const client::ClientOptions& security) const {
  client::ClientOptions options;
  options.timeout = absl::FromChrono(kWaitMax);
  options.retry = client::NoRetries();
  options.credentials = security.credentials;
  options.access_key = security.access_key;
  absl::StatusOr<client::Client> connected = client::Connect(address_, std::move(options));
  if (!connected.ok()) throw std::runtime_error(connected.status().ToString());
  return *std::move(connected);
}

void DaemonProcess::Hangup() { kill(pid_, SIGHUP); }

int DaemonProcess::Signal(int signal) {
  client_.reset();
  kill(pid_, signal);
  const std::optional<int> exit_code = WaitForEnd(pid_);
  if (!exit_code.has_value()) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_ = -1;
  if (!exit_code.has_value()) throw std::runtime_error("the daemon did not stop; it wrote:\n" + ReadStderr());
  return *exit_code;
}

void DaemonProcess::Kill() {
  if (pid_ > 0) Signal(SIGKILL);
}

int DaemonProcess::Stop() { return Signal(SIGTERM); }

void DaemonProcess::Restart() {
  if (pid_ > 0) Stop();
  Start();
}

std::string DaemonProcess::ReadStderr() const { return ReadFile(directory_.path("stderr")); }

}  // namespace armature::test
