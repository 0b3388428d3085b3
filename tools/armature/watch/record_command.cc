#include "tools/armature/watch/record_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

constexpr size_t kReadBytes = 4096;
constexpr int kSignalStatus = 128;

absl::Status SystemError(const char* call, int error) {
  return absl::InternalError(Av(Cat("cannot start the command: ", call, ": ", std::strerror(error))));
}

absl::Status TooManyLinesError() {
  return UsageError("--exec: the command has printed more lines than it got; it must print one for each record");
}

absl::Status EndedError() { return absl::AbortedError("the command has ended"); }

struct Pipe {
  int read = -1;
  int write = -1;
  bool Open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
};

void Close(int* file) {
  if (*file >= 0) close(*file);
  *file = -1;
}

// Starts `sh -c command` with the ends of the pipes as its standard input and output. Returns an errno, or 0.
int Spawn(const std::string& command, const Pipe& input, const Pipe& output, pid_t* process) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input.read, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output.write, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // This process ignores SIGPIPE; the command must not.
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::string shell = "sh";
  std::string option = "-c";
  std::string text = command;
  std::array<char*, 4> arguments = {shell.data(), option.data(), text.data(), nullptr};
  const int error = posix_spawn(process, "/bin/sh", &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecordCommand>> RecordCommand::Start(const std::string& command) {
  signal(SIGPIPE, SIG_IGN);
  Pipe input;
  Pipe output;
  absl::Status failed;
  pid_t process = 0;
  if (!input.Open() || !output.Open() || fcntl(input.write, F_SETFL, O_NONBLOCK) != 0) {
    failed = SystemError("pipe", errno);
  } else if (const int error = Spawn(command, input, output, &process); error != 0) {
    failed = SystemError("posix_spawn", error);
  }
  Close(&input.read);
  Close(&output.write);
  if (!failed.ok()) {
    Close(&input.write);
    Close(&output.read);
    return failed;
  }
  return std::unique_ptr<RecordCommand>(new RecordCommand(process, input.write, output.read));
}

RecordCommand::~RecordCommand() {
  Wait();
  Close(&output_);
}

int RecordCommand::Wait() {
  Close(&input_);
  if (process_ == 0) return 0;
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
  return WIFSIGNALED(status) ? kSignalStatus + WTERMSIG(status) : WEXITSTATUS(status);
}

absl::Status RecordCommand::WriteSome(const std::string& text, size_t* written) const {
  const ssize_t count = write(input_, text.data() + *written, text.size() - *written);
  if (count >= 0) {
    *written += static_cast<size_t>(count);
    return absl::OkStatus();
  }
  return errno == EAGAIN || errno == EINTR ? absl::OkStatus() : EndedError();
}

absl::StatusOr<size_t> RecordCommand::ReadSome() const {
  std::array<char, kReadBytes> buffer;
  const ssize_t count = read(output_, buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return 0;
  if (count <= 0) return EndedError();
  return static_cast<size_t>(std::count(buffer.data(), buffer.data() + count, '\n'));
}

absl::Status RecordCommand::CheckIdle() const {
  pollfd file{output_, POLLIN, 0};
  if (poll(&file, 1, /*timeout=*/0) <= 0) return absl::OkStatus();
  ARM_ASSIGN_OR_RETURN(const size_t read, ReadSome());
  return read == 0 ? absl::OkStatus() : TooManyLinesError();
}

absl::Status RecordCommand::Handle(const std::vector<std::string>& lines, size_t* done,
                                   const std::function<absl::Status()>& acknowledged) {
  std::string text;
  for (size_t i = *done; i < lines.size(); ++i) text += lines[i];
  size_t written = 0;
  while (*done < lines.size()) {
    std::array<pollfd, 2> files = {pollfd{output_, POLLIN, 0}, pollfd{input_, POLLOUT, 0}};
    const nfds_t count = written < text.size() ? 2 : 1;
    if (poll(files.data(), count, /*timeout=*/-1) < 0) {
      if (errno == EINTR) continue;
      return absl::InternalError(Av(Cat("poll: ", std::strerror(errno))));
    }
    // Acknowledgements first, also those of a command that has ended since.
    if (files[0].revents != 0) {
      ARM_ASSIGN_OR_RETURN(const size_t read, ReadSome());
      if (read > lines.size() - *done) return TooManyLinesError();
      *done += read;
      if (read > 0) ARM_RETURN_IF_ERROR(acknowledged());
    } else if (count == 2 && files[1].revents != 0) {
      ARM_RETURN_IF_ERROR(WriteSome(text, &written));
    }
  }
  return absl::OkStatus();
}

}  // namespace armature::cli
