#ifndef ARMATURE_TESTS_RADOS_CHILD_PROCESS_H_
#define ARMATURE_TESTS_RADOS_CHILD_PROCESS_H_

// A program under test whose output is read line by line.

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

namespace armature::rados {

class ChildProcess {
 public:
  explicit ChildProcess(const std::vector<std::string>& command);
  // Kills it if it runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void Signal(int signal) const;
  // The next line of its output, without the end of line. False at the end of the output.
  bool ReadLine(std::string* line);
  // Waits for the end. Returns the exit status, or -1 after a signal.
  int Wait();

 private:
  pid_t pid_ = -1;
  std::FILE* output_ = nullptr;
};

}  // namespace armature::rados

#endif  // ARMATURE_TESTS_RADOS_CHILD_PROCESS_H_
