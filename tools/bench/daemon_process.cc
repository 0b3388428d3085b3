#include "tools/bench/daemon_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>

#include "tools/bench/transport.h"

namespace armature::bench {
namespace {

constexpr std::chrono::seconds kReadyMax{30};
constexpr std::chrono::seconds kStopMax{30};
constexpr std::chrono::milliseconds kDaemonPollEvery{20};
constexpr size_t kErrorTailBytes = 2000;

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Replaces the child process by the daemon. Its output goes to files, so that it never blocks on a full pipe.
[[noreturn]] void Become(const std::string& path, const std::vector<std::string>& flags,
                         const std::filesystem::path& directory) {
  setpgid(0, 0);  // Ctrl-C goes to the benchmark only, which stops the daemon after deleting the table
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int out = open((directory / "stdout").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int err = open((directory / "stderr").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (out < 0 || err < 0) _exit(127);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  std::vector<std::string> words = {path, "--data_dir=" + (directory / "data").string(), "--grpc_listen=127.0.0.1:0",
                                    "--http_listen=127.0.0.1:0"};
  words.insert(words.end(), flags.begin(), flags.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(path.c_str(), arguments.data());
  dprintf(STDERR_FILENO, "cannot execute %s\n", path.c_str());
  _exit(127);
}

// The word behind `name` in a line of words; empty if there is none.
std::string WordAfter(const std::string& line, std::string_view name) {
  const size_t at = line.find(name);
  if (at == std::string::npos) return "";
  const size_t begin = at + name.size();
  return line.substr(begin, line.find(' ', begin) - begin);
}

}  // namespace

SpawnedDaemon::SpawnedDaemon(const std::string& path, const std::vector<std::string>& flags) {
  std::string pattern = (std::filesystem::temp_directory_path() / "armature_bench_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "mkdtemp " + pattern);
  }
  directory_ = pattern;
  std::filesystem::create_directory(directory_ / "data");
  pid_ = fork();
  if (pid_ == 0) Become(path, flags, directory_);
  try {
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    WaitUntilReady();
  } catch (...) {
    Stop();  // the destructor does not run after an exception
    throw;
  }
}

void SpawnedDaemon::WaitUntilReady() {
  static const std::string kReady = "ready grpc=";
  const Clock::time_point give_up = Clock::now() + kReadyMax;
  while (true) {
    std::istringstream lines(ReadFile(directory_ / "stdout"));
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind(kReady, 0) != 0 || lines.eof()) continue;  // a line at the end of the file may be incomplete
      grpc_ = WordAfter(line, "grpc=");
      http_ = WordAfter(line, "http=");
      return;
    }
    const bool ended = Reap();
    if (ended || Clock::now() > give_up) {
      const std::string errors = ReadFile(directory_ / "stderr");
      const size_t skip = errors.size() > kErrorTailBytes ? errors.size() - kErrorTailBytes : 0;
      throw std::runtime_error(std::string("the daemon ") + (ended ? "ended" : "hung") + " before it was ready:\n" +
                               errors.substr(skip));
    }
    std::this_thread::sleep_for(kDaemonPollEvery);
  }
}

bool SpawnedDaemon::Reap() {
  int status = 0;
  if (pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_) {
    pid_ = -1;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      std::cerr << "armature-bench: the daemon ended with " << (WIFEXITED(status) ? "exit code " : "signal ")
                << (WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status)) << "\n";
    }
  }
  return pid_ < 0;
}

void SpawnedDaemon::Stop() {
  if (pid_ > 0) {
    kill(pid_, SIGTERM);
    const Clock::time_point give_up = Clock::now() + kStopMax;
    while (!Reap()) {
      if (Clock::now() > give_up) {
        std::cerr << "armature-bench: the daemon ignores SIGTERM, killing it\n";
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        pid_ = -1;
        break;
      }
      std::this_thread::sleep_for(kDaemonPollEvery);
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

}  // namespace armature::bench
