#ifndef ARMATURE_TOOLS_ARMATURE_TOP_TOP_SAMPLER_H_
#define ARMATURE_TOOLS_ARMATURE_TOP_TOP_SAMPLER_H_

// Takes the samples of `armature top` from a daemon: its operations for administrators, and its metrics page.

#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "armature/client/client.h"
#include "tools/armature/top/top_model.h"

namespace armature::cli {

struct MetricsAddress {
  std::string address;  // HOST:PORT
  // The address is a guess, and may be that of another daemon: its numbers count only if it was started at the same
  // time.
  bool is_guess = false;
};

// Not thread-safe.
class TopSampler {
 public:
  // `patience`: the longest wait for each answer.
  TopSampler(client::Client client, MetricsAddress metrics, absl::Duration patience)
      : client_(std::move(client)), metrics_(std::move(metrics)), patience_(patience) {}

  // Errors: those of GetServerInfo, ListIndexStatus and ListTables. The numbers of a table that cannot be read, the
  // metrics, and the running requests, are left out.
  absl::StatusOr<TopSample> Take();

 private:
  client::CallOptions Quick() const { return {.timeout = patience_}; }
  void TakeMetrics(TopSample* sample) const;
  absl::Status TakeTables(TopSample* sample) const;
  void TakeHotKeys(TableSample* table) const;
  void TakeRunning(TopSample* sample) const;
  // Finds the tables whose keys are counted.
  void LookForCountedTables();

  const client::Client client_;
  const MetricsAddress metrics_;
  const absl::Duration patience_;
  std::set<std::string> counted_tables_;
  absl::Time look_again_at_ = absl::InfinitePast();
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_TOP_TOP_SAMPLER_H_
