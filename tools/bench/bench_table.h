// The table of a run, and information about the daemon.
#ifndef ARMATURE_TOOLS_BENCH_BENCH_TABLE_H_
#define ARMATURE_TOOLS_BENCH_BENCH_TABLE_H_

#include <string>

#include "armature/client/client.h"
#include "tools/bench/options.h"

namespace armature::bench {

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

#endif  // ARMATURE_TOOLS_BENCH_BENCH_TABLE_H_
