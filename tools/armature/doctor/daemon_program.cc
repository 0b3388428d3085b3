#include "tools/armature/doctor/daemon_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

constexpr char kDaemonName[] = "armatured";
constexpr int kPatienceMs = 10'000;
constexpr size_t kFaultBytesMax = 64 << 10;

// The path of the program beside this one; without one its name, which is looked for in PATH.
std::string DaemonPath() {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path beside = own.parent_path() / kDaemonName;
  return !error && ::access(beside.c_str(), X_OK) == 0 ? beside.string() : kDaemonName;
}

// Starts the program with its standard error at `errors`. Returns its process.
absl::StatusOr<pid_t> SpawnDaemon(const std::string& config, int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const absl::Cleanup destroy = [&actions] { posix_spawn_file_actions_destroy(&actions); };
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  std::string name = kDaemonName;
  std::string file = Cat("--config=", config);
  std::string print = "--print_config";
  std::string format = "--log_format=text";
  char* const arguments[] = {name.data(), file.data(), print.data(), format.data(), nullptr};
  pid_t process = 0;
  const int error = posix_spawnp(&process, DaemonPath().c_str(), &actions, nullptr, arguments, environ);
  if (error == ENOENT) return absl::NotFoundError("there is no armatured");
  if (error != 0) return absl::UnavailableError(Cat("armatured: ", std::strerror(error)));
  return process;
}

// All that comes until the other end is closed. False if that takes too long, or if too much comes.
bool ReadAll(int descriptor, std::string* text) {
  std::array<char, 4096> piece;
  const absl::Time end = absl::Now() + absl::Milliseconds(kPatienceMs);
  while (text->size() < kFaultBytesMax) {
    pollfd waiting = {.fd = descriptor, .events = POLLIN, .revents = 0};
    const auto left_ms = static_cast<int>(absl::ToInt64Milliseconds(end - absl::Now()));
    if (left_ms <= 0 || poll(&waiting, 1, left_ms) != 1) return false;
    const ssize_t got = read(descriptor, piece.data(), piece.size());
    if (got <= 0) return got == 0;
    text->append(piece.data(), static_cast<size_t>(got));
  }
  return false;
}

// The fault that the program has written; empty if it has ended well. `status`: of waitpid.
std::string FaultIn(std::string text, int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  constexpr std::string_view kPrefix = "armatured: ";
  if (text.starts_with(kPrefix)) text.erase(0, kPrefix.size());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? std::string("armatured refuses it") : text;
}

}  // namespace

absl::StatusOr<std::string> FindConfigFault(const std::string& config) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::UnavailableError(std::strerror(errno));
  const absl::Cleanup close_read = [&ends] { close(ends[0]); };
  const absl::StatusOr<pid_t> process = SpawnDaemon(config, ends[1]);
  close(ends[1]);
  if (!process.ok()) return process.status();
  std::string text;
  const bool has_ended = ReadAll(ends[0], &text);
  // It has closed its output, and may run on.
  int status = 0;
  const absl::Time end = absl::Now() + absl::Milliseconds(kPatienceMs);
  pid_t ended = 0;
  while (has_ended && ended == 0 && absl::Now() < end) {
    ended = waitpid(*process, &status, WNOHANG);
    if (ended == 0) absl::SleepFor(absl::Milliseconds(1));
  }
  if (ended == *process) return FaultIn(std::move(text), status);
  kill(*process, SIGKILL);
  while (waitpid(*process, &status, 0) < 0 && errno == EINTR) {
  }
  return absl::UnavailableError("armatured --print_config did not end in time");
}

}  // namespace armature::cli
