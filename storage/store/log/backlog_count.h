#ifndef ARMATURE_STORAGE_STORE_LOG_BACKLOG_COUNT_H_
#define ARMATURE_STORAGE_STORE_LOG_BACKLOG_COUNT_H_

// Counts the change records that earlier runs of the process have left for the global indexes.

#include <vector>

#include "absl/status/statusor.h"
#include "storage/base/strong_type.h"
#include "storage/base/worker.h"

namespace armature::store {

class Catalog;
class ChangeLog;

// A thread that reads the change log once, from the cursors of the indexes to the end that the log had when the
// database was opened. Requests are served meanwhile; until the count ends, the backlogs are too small. Malformed
// records are skipped; the applier reports them. If the log of a table cannot be read, its count ends there with a log
// message.
//
// Lifetime: both arguments must outlive it. The destructor ends the count.
class BacklogCount {
 public:
  // Called before the first commit.
  BacklogCount(const ChangeLog* log, const Catalog* catalog);
  BacklogCount(const BacklogCount&) = delete;
  BacklogCount& operator=(const BacklogCount&) = delete;

 private:
  // Counts some records of the last table of tables_.
  Worker::Next Work();
  // Counts some records of `table` behind `after`, and sets `after` to the last of them. Returns true at the end.
  absl::StatusOr<bool> CountSome(TableId table, ChangeSequence* after) const;

  const ChangeLog* const log_;
  const Catalog* const catalog_;
  std::vector<TableId> tables_;  // with records that may wait and are not counted yet
  ChangeSequence counted_;       // of the last table
  Worker worker_{"arm-count", [this] { return Work(); }};
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_LOG_BACKLOG_COUNT_H_
