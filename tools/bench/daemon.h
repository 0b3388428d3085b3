// The daemon of a run: an own process if asked for, a client, and the table of the run.
#ifndef ARMATURE_TOOLS_BENCH_DAEMON_H_
#define ARMATURE_TOOLS_BENCH_DAEMON_H_

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "armature/client/client.h"
#include "tools/bench/options.h"

namespace armature::bench {

// A daemon on a temporary data directory. The destructor stops the daemon and removes its directory. The daemon also
// ends when this program is killed.
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

// Throws std::runtime_error on failure.
client::Client ConnectClient(const std::string& target);
admin::v1::GetServerInfoResponse ServerInfo(const client::Client& client);

// A table armature_bench_<random>, deleted by the destructor.
class BenchTable {
 public:
  // Creates the table and waits until it and its indexes are ACTIVE. Throws std::runtime_error on failure.
  BenchTable(client::Client client, const Options& options);
  ~BenchTable();

  BenchTable(const BenchTable&) = delete;
  BenchTable& operator=(const BenchTable&) = delete;

  const std::string& name() const { return name_; }

 private:
  const client::Client client_;
  const std::string name_;
};

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_DAEMON_H_
