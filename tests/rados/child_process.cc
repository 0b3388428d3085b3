#include "tests/rados/child_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace armature::rados {

ChildProcess::ChildProcess(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  pid_ = fork();
  if (pid_ == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  output_ = fdopen(ends[0], "r");
}

ChildProcess::~ChildProcess() {
  Signal(SIGKILL);
  Wait();
  std::fclose(output_);
}

void ChildProcess::Signal(int signal) const {
  if (pid_ > 0) kill(pid_, signal);
}

bool ChildProcess::ReadLine(std::string* line) {
  char* text = nullptr;
  size_t capacity = 0;
  const ssize_t size = getline(&text, &capacity, output_);
  if (size > 0) line->assign(text, static_cast<size_t>(size) - (text[size - 1] == '\n' ? 1 : 0));
  std::free(text);
  return size > 0;
}

int ChildProcess::Wait() {
  if (pid_ <= 0) return -1;
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace armature::rados
