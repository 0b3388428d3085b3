// A daemon on a temporary data directory.
#ifndef ARMATURE_TOOLS_BENCH_SPAWNED_DAEMON_H_
#define ARMATURE_TOOLS_BENCH_SPAWNED_DAEMON_H_

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace armature::bench {

// The destructor stops the daemon and removes its directory. The daemon also ends when this program is killed.
class SpawnedDaemon {
 public:
  // Starts the program `path` with data below $TMPDIR, and waits until it prints "ready grpc=ADDRESS". Throws
  // std::runtime_error with the end of its stderr if that takes more than 30 seconds. Call it before starting threads.
  explicit SpawnedDaemon(const std::string& path);
  ~SpawnedDaemon();

  SpawnedDaemon(const SpawnedDaemon&) = delete;
  SpawnedDaemon& operator=(const SpawnedDaemon&) = delete;

  const std::string& address() const { return address_; }

 private:
  void WaitUntilReady();
  // Reaps the daemon if it has ended. True if it has.
  bool Reap();
  void Stop();

  std::filesystem::path directory_;
  pid_t pid_ = -1;
  std::string address_;
};

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_SPAWNED_DAEMON_H_
