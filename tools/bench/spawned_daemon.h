// A daemon of our own on a temporary data directory.
#ifndef ARMATURE_TOOLS_BENCH_SPAWNED_DAEMON_H_
#define ARMATURE_TOOLS_BENCH_SPAWNED_DAEMON_H_

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace armature::bench {

// Stops the daemon and removes its directory when destroyed. The daemon also ends when this program
// is killed.
class SpawnedDaemon {
 public:
  // Starts `path` below $TMPDIR and waits until it says "ready grpc=ADDRESS". Throws
  // std::runtime_error, with the end of what it wrote to stderr, if it does not within 30 seconds.
  // To be called before there are other threads.
  explicit SpawnedDaemon(const std::string& path);
  ~SpawnedDaemon();

  SpawnedDaemon(const SpawnedDaemon&) = delete;
  SpawnedDaemon& operator=(const SpawnedDaemon&) = delete;

  const std::string& address() const { return address_; }

 private:
  void WaitUntilReady();
  // True if it has ended, and is now reaped.
  bool Reap();
  void Stop();

  std::filesystem::path directory_;
  pid_t pid_ = -1;
  std::string address_;
};

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_SPAWNED_DAEMON_H_
