#ifndef ARMATURE_TOOLS_ARMATURE_COPY_COPIER_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_COPIER_H_

// Copies tables: definitions, items, then changes.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tools/armature/copy/batch_writer.h"
#include "tools/armature/copy/copy_settings.h"
#include "tools/armature/copy/copy_state.h"
#include "tools/armature/copy/stream_reader.h"
#include "tools/armature/copy/table_definition.h"
#include "tools/armature/copy/table_pairs.h"

namespace armature::cli::copy {

// Not thread-safe. Lifetime: all arguments outlive it.
class Copier {
 public:
  Copier(const CopySides& sides, const CopySettings& settings, StateKeeper* state);

  // Copies the tables, or continues where the state says. With --follow, applies the changes until the cut-over. The
  // state has the save points in any case. Errors: the reason why the copy stopped.
  absl::Status Run(const std::vector<TablePair>& pairs);

 private:
  struct Job {
    TablePair names;
    TableInfo info;
    std::unique_ptr<StreamReader> reader;
  };
  // A follow between two rounds.
  struct Following {
    int empty_rounds = 0;  // in sequence
    double lag_seconds = 0;
    bool is_cutting = false;
  };

  absl::Status Prepare(const TablePair& names);
  // The target's table of a new copy: absent, or permitted. *must_create: it is absent.
  // Errors: DATA_LOSS if the stream that the state follows is off or another one.
  static absl::Status CheckSameStream(const Job& job, const TableState& known);
  absl::Status CheckTarget(const Job& job, bool* must_create);
  absl::Status CheckStream(Job* job);
  absl::Status CopyItems(const Job& job);
  absl::Status CopySegment(const Job& job, size_t segment, RateLimit* read_rate);
  absl::StatusOr<double> ReadRateOf(const Job& job) const;

  absl::Status Follow();
  // Reads one page of each shard of all tables.
  absl::StatusOr<StreamReader::Round> FollowOnce();
  absl::Status ApplyChanges(const Job& job, const std::vector<Change>& changes);
  // True if the follow ends.
  bool Judge(const StreamReader::Round& round, Following* following) const;

  const CopySides& sides_;
  const CopySettings settings_;
  StateKeeper& state_;
  BatchWriter writer_;
  std::vector<Job> jobs_;
};

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_COPIER_H_
