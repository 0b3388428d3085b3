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
#include <string_view>
#include <system_error>

#include "absl/cleanup/cleanup.h"
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
  char* const arguments[] = {name.data(), file.data(), print.data(), nullptr};
  pid_t process = 0;
  const int error = posix_spawnp(&process, DaemonPath().c_str(), &actions, nullptr, arguments, environ);
  if (error == ENOENT) return absl::NotFoundError("there is no armatured");
  if (error != 0) return absl::UnavailableError(Cat("armatured: ", std::strerror(error)));
  return process;
}

// All that comes until the other end is closed. False if nothing comes for too long.
bool ReadAll(int descriptor, std::string* text) {
  std::array<char, 4096> piece;
  while (text->size() < kFaultBytesMax) {
    pollfd waiting = {.fd = descriptor, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, kPatienceMs) != 1) return false;
    const ssize_t got = read(descriptor, piece.data(), piece.size());
    if (got <= 0) return got == 0;
    text->append(piece.data(), static_cast<size_t>(got));
  }
  return true;
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
  if (!has_ended) kill(*process, SIGKILL);
  int status = 0;
  while (waitpid(*process, &status, 0) < 0 && errno == EINTR) {
  }
  if (!has_ended) return absl::UnavailableError("armatured --print_config did not end in time");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::string();
  constexpr std::string_view kPrefix = "armatured: ";
  if (text.starts_with(kPrefix)) text.erase(0, kPrefix.size());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? std::string("armatured refuses it") : text;
}

}  // namespace armature::cli
