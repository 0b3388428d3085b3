// The table of a run, and what the daemon says of itself.
#ifndef ARMATURE_TOOLS_BENCH_BENCH_TABLE_H_
#define ARMATURE_TOOLS_BENCH_BENCH_TABLE_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "armature/admin/v1/admin.pb.h"
#include "tools/bench/options.h"

namespace armature::bench {

// Throws std::runtime_error on failure.
admin::v1::GetServerInfoResponse ServerInfo(const std::shared_ptr<grpc::Channel>& channel);

// A table armature_bench_<random> that is deleted when the object goes.
class BenchTable {
 public:
  // Creates it and waits until it and its indexes are ACTIVE. Throws std::runtime_error on failure.
  BenchTable(std::shared_ptr<grpc::Channel> channel, const Options& options);
  ~BenchTable();

  BenchTable(const BenchTable&) = delete;
  BenchTable& operator=(const BenchTable&) = delete;

  const std::string& name() const { return name_; }

 private:
  void WaitUntilActive();

  std::shared_ptr<grpc::Channel> channel_;
  std::string name_;
};

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_BENCH_TABLE_H_
