#include "tools/armature/pager.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <streambuf>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

// Enough for what a command says beside its output.
constexpr size_t kWaitingBytesMax = 1 << 16;

// True if a shell finds the program.
bool IsProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0;
  const char* const path = std::getenv("PATH");
  if (path == nullptr) return false;
  for (const std::string& directory : std::vector<std::string>(absl::StrSplit(path, ':'))) {
    if (::access(Cat(directory.empty() ? "." : directory, "/", name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

// The environment of the pager: that of this process, with options for less.
std::vector<std::string> PagerEnvironment() {
  std::vector<std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) variables.emplace_back(*each);
  if (std::getenv("LESS") == nullptr) variables.emplace_back("LESS=FRSX");
  return variables;
}

// Passes everything on to `Taker`, whose call and whose Flush return false if it takes no more.
template <class Taker>
class PassingBuffer final : public std::streambuf {
 public:
  explicit PassingBuffer(Taker taker) : taker_(std::move(taker)) {}

 protected:
  int_type overflow(int_type character) override {
    if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
    const char c = traits_type::to_char_type(character);
    return taker_(std::string_view(&c, 1)) ? character : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    return taker_(std::string_view(text, static_cast<size_t>(size))) ? size : 0;
  }
  int sync() override { return taker_.Flush() ? 0 : -1; }

 private:
  const Taker taker_;
};

}  // namespace

std::string UsablePager(const std::string& command) {
  const std::vector<std::string> words = absl::StrSplit(command, ' ', absl::SkipEmpty());
  if (words.empty() || words.front() == "cat") return "";
  // A word such as LESS=-R, or one with quotes, is the shell's to understand.
  const bool is_plain = words.front().find_first_of("='\"$`\\;&|<>()") == std::string::npos;
  return is_plain && !IsProgram(words.front()) ? "" : command;
}

std::string PagerCommand() {
  const char* const term = std::getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") return "";
  for (const char* name : {"ARMATURE_PAGER", "PAGER"}) {
    if (const char* const value = std::getenv(name); value != nullptr) return UsablePager(value);
  }
  return UsablePager("less");
}

PagerOptions PagerOnTerminal() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  return {.command = PagerCommand(), .rows = size.ws_row, .columns = size.ws_col};
}

class Pager::Process {
 public:
  Process(PagerOptions options, std::ostream& out, std::ostream& err)
      : options_(std::move(options)),
        real_out_(out),
        real_err_(err),
        is_direct_(options_.command.empty() || options_.rows == 0) {}

  ~Process() { Finish(); }

  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  std::ostream& out() { return out_; }
  std::ostream& err() { return err_; }
  bool was_quit() const { return was_quit_; }

  void Finish() {
    if (pid_ == 0) {
      if (!held_.empty()) real_out_ << std::exchange(held_, "");
      real_out_.flush();
    } else {
      close(pipe_);
      while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
      }
      sigaction(SIGINT, &former_interrupt_, nullptr);
      sigaction(SIGPIPE, &former_pipe_, nullptr);
      pid_ = 0;
      is_direct_ = true;
    }
    if (!waiting_.empty()) real_err_ << std::exchange(waiting_, "") << std::flush;
  }

 private:
  bool Take(std::string_view text) {
    if (was_quit_) return false;
    if (pid_ != 0) return Send(text);
    if (is_direct_) {
      real_out_ << text;
      return real_out_.good();
    }
    held_ += text;
    CountRows(text);
    if (rows_ < options_.rows) return true;
    const std::string held = std::exchange(held_, "");
    if (Start()) return Send(held);
    is_direct_ = true;
    real_out_ << held;
    return real_out_.good();
  }

  // Without a pager, commands that go on for ever are read while they print.
  bool FlushOut() {
    if (is_direct_ && pid_ == 0) real_out_.flush();
    return !was_quit_ && real_out_.good();
  }

  bool TakeError(std::string_view text) {
    // Remarks about an output stand behind it.
    if (pid_ == 0 && held_.empty()) {
      real_err_ << text << std::flush;
    } else if (waiting_.size() < kWaitingBytesMax) {
      waiting_ += text;
    }
    return true;
  }

  void CountRows(std::string_view text) {
    for (const char c : text) {
      if (c != '\n') {
        ++line_bytes_;
        continue;
      }
      // less cuts lines, a terminal does not.
      rows_ += 1 + (options_.columns == 0 || line_bytes_ == 0 ? 0 : (line_bytes_ - 1) / options_.columns);
      line_bytes_ = 0;
    }
  }

  bool Send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t size = write(pipe_, text.data(), text.size());
      if (size >= 0) {
        text.remove_prefix(static_cast<size_t>(size));
      } else if (errno != EINTR) {
        was_quit_ = true;
        return false;
      }
    }
    return true;
  }

  bool Start() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    pipe_ = ends[1];
    real_out_.flush();
    struct sigaction ignored = {};
    ignored.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignored, &former_interrupt_);
    sigaction(SIGPIPE, &ignored, &former_pipe_);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[0], STDIN_FILENO);
    const int error = Spawn(files);
    posix_spawn_file_actions_destroy(&files);
    close(ends[0]);
    if (error == 0) return true;
    close(pipe_);
    pid_ = 0;
    sigaction(SIGINT, &former_interrupt_, nullptr);
    sigaction(SIGPIPE, &former_pipe_, nullptr);
    return false;
  }

  int Spawn(const posix_spawn_file_actions_t& files) {
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    std::array<std::string, 3> words = {"sh", "-c", options_.command};
    std::array<char*, 4> arguments = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    std::vector<std::string> variables = PagerEnvironment();
    std::vector<char*> environment;
    environment.reserve(variables.size() + 1);
    for (std::string& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    const int error = posix_spawn(&pid_, "/bin/sh", &files, &attributes, arguments.data(), environment.data());
    posix_spawnattr_destroy(&attributes);
    return error;
  }

  struct TakeOut {
    Process* process;
    bool operator()(std::string_view text) const { return process->Take(text); }
    bool Flush() const { return process->FlushOut(); }
  };
  struct TakeErr {
    Process* process;
    bool operator()(std::string_view text) const { return process->TakeError(text); }
    bool Flush() const { return true; }
  };

  const PagerOptions options_;
  std::ostream& real_out_;
  std::ostream& real_err_;
  bool is_direct_;  // no pager: everything is printed at once
  std::string held_;
  size_t rows_ = 0;        // of `held_`
  size_t line_bytes_ = 0;  // of its last line
  std::string waiting_;
  pid_t pid_ = 0;  // 0: the pager does not run
  int pipe_ = -1;
  bool was_quit_ = false;
  struct sigaction former_interrupt_ = {};
  struct sigaction former_pipe_ = {};
  PassingBuffer<TakeOut> out_buffer_{TakeOut{this}};
  PassingBuffer<TakeErr> err_buffer_{TakeErr{this}};
  std::ostream out_{&out_buffer_};
  std::ostream err_{&err_buffer_};
};

Pager::Pager(PagerOptions options, std::ostream& out, std::ostream& err)
    : process_(std::make_unique<Process>(std::move(options), out, err)) {}

Pager::~Pager() = default;

std::ostream& Pager::out() { return process_->out(); }
std::ostream& Pager::err() { return process_->err(); }
void Pager::Finish() { process_->Finish(); }
bool Pager::was_quit() const { return process_->was_quit(); }

}  // namespace armature::cli
