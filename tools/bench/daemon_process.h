#ifndef ARMATURE_TOOLS_BENCH_DAEMON_PROCESS_H_
#define ARMATURE_TOOLS_BENCH_DAEMON_PROCESS_H_

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace armature::bench {

// A daemon on a temporary data directory. The destructor stops the daemon and removes its directory. The daemon also
// ends when this program is killed.
class SpawnedDaemon {
 public:
  // Starts the program `path` with `flags` and data below $TMPDIR, and waits until it prints "ready grpc=ADDRESS
  // http=ADDRESS". Throws std::runtime_error with the end of its stderr if that takes more than 30 seconds. Call it
  // before starting threads.
  SpawnedDaemon(const std::string& path, const std::vector<std::string>& flags);
  ~SpawnedDaemon() { Stop(); }
  SpawnedDaemon(const SpawnedDaemon&) = delete;
  SpawnedDaemon& operator=(const SpawnedDaemon&) = delete;

  const std::string& grpc() const { return grpc_; }
  const std::string& http() const { return http_; }
  std::string directory() const { return directory_.string(); }

 private:
  void WaitUntilReady();
  // Reaps the daemon if it has ended. True if it has.
  bool Reap();
  void Stop();

  std::filesystem::path directory_;
  pid_t pid_ = -1;
  std::string grpc_;
  std::string http_;
};

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_DAEMON_PROCESS_H_
