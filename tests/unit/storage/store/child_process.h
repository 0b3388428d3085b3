#ifndef ARMATURE_TESTS_UNIT_STORAGE_STORE_CHILD_PROCESS_H_
#define ARMATURE_TESTS_UNIT_STORAGE_STORE_CHILD_PROCESS_H_

// Tests whose process is killed: they run in a child process that another test starts.

#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace armature::store {

// Runs the disabled test `name` of this program in a child process with these environment variables. Returns its status
// of waitpid; nullopt: it could not be started.
inline std::optional<int> RunChild(const std::string& name,
                                   const std::vector<std::pair<std::string, std::string>>& environment) {
  for (const auto& [variable, value] : environment) setenv(variable.c_str(), value.c_str(), 1);
  std::string arguments[] = {"child_test", "--gtest_filter=" + name, "--gtest_also_run_disabled_tests",
                             "--gtest_brief=1"};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int spawned = posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, argv.data(), environ);
  for (const auto& [variable, value] : environment) unsetenv(variable.c_str());
  int status = 0;
  if (spawned != 0 || waitpid(child, &status, 0) != child) return std::nullopt;
  return status;
}

}  // namespace armature::store

#endif  // ARMATURE_TESTS_UNIT_STORAGE_STORE_CHILD_PROCESS_H_
