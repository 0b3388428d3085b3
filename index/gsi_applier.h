#ifndef ARMATURE_INDEX_GSI_APPLIER_H_
#define ARMATURE_INDEX_GSI_APPLIER_H_

// Applies changes from the change log of a table to its global indexes.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/strong_type.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/database.h"

namespace armature::index {

// Workers on a few threads. Tables take turns with a bounded run of records each, so that a busy table does not delay
// the others. A table has one run at a time, so its changes are applied in their order; different tables run in
// parallel.
//
// A run reads the records behind the cursors of a group of indexes with equal cursors. It collapses them per index row
// (the last change of a row wins), and writes the rows together with the advanced cursors in one batch: exactly once,
// in order per item, across restarts and kills. An index under construction is skipped until its scan is done (see
// IndexBuilder); the log is kept for it. An index whose changes cannot be applied stands still, with its log, and is
// tried again every second; the other indexes go on.
//
// Thread-safety: thread-safe. Lifetime: the database must outlive it.
class GsiApplier : public store::ChangeConsumer {
 public:
  explicit GsiApplier(store::Database* database, size_t threads = 1);
  ~GsiApplier() override;
  GsiApplier(const GsiApplier&) = delete;
  GsiApplier& operator=(const GsiApplier&) = delete;

  // Starts the threads and enqueues all tables with global indexes.
  void Start();
  // Finishes the current runs. The rest of the log is applied after the next start.
  void Stop();

  void OnAppended(const std::vector<TableId>& tables) override;

  // Does one run for one table. Returns true if the table's log is drained. For tests, without Start. Errors:
  // those of the store, with nothing applied to the indexes that stand still.
  absl::StatusOr<bool> RunOnce(TableId table);

 private:
  enum class Wake : uint8_t { kWorker, kNone };
  void Work();
  // Puts the table into the queue, or marks it for another run if it has one. Wakes an idle worker unless the caller is
  // a worker that looks at the queue next.
  void Enqueue(TableId table, Wake wake) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes the next table, waiting for one. Nullopt: the applier stops.
  struct Taken {
    TableId table;
    bool retries = false;  // stalled indexes are tried again
  };
  std::optional<Taken> Take();
  // Enqueues the tables whose stalled indexes are due for another attempt. Returns the time of MonotonicNs of the next
  // attempt.
  int64_t EnqueueDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  struct Turn {
    bool drained = true;  // nothing is left for the indexes that go on
    absl::Status failed;  // the first failure of an index
  };
  // Notes the result of a run, and enqueues the table if there is more to do.
  void Finish(TableId table, const Turn& turn);
  // Does one run for one table, without its stalled indexes unless `retries`.
  Turn RunTable(TableId table, bool retries);
  // Does a run up to `up_to` for indexes of a table with equal cursors. An index under construction forms its own
  // group.
  absl::StatusOr<store::ChangeLog::ReadOutcome> RunGroup(const std::shared_ptr<const store::CatalogSnapshot>& snapshot,
                                                         TableId table, const std::vector<const store::Index*>& indexes,
                                                         ChangeSequence up_to);
  absl::Status MaybeTrim(const store::Table& table, size_t records, size_t bytes, bool drained);

  store::Database* const database_;
  absl::Mutex mutex_;
  MonotonicWait wake_;
  std::deque<TableId> queue_ ABSL_GUARDED_BY(mutex_);
  // Tables in the queue or with a run.
  enum class State : uint8_t { kQueued, kRunning, kRunsAgain };
  absl::flat_hash_map<TableId, State> states_ ABSL_GUARDED_BY(mutex_);
  // Tables with stalled indexes, and the time (MonotonicNs) of the next attempt.
  absl::flat_hash_map<TableId, int64_t> retry_at_ns_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // Position up to which a table's log was trimmed, and what was applied since.
  struct Trims {
    size_t records = 0;
    size_t bytes = 0;
    ChangeSequence through = {};
  };
  absl::flat_hash_map<TableId, Trims> trims_ ABSL_GUARDED_BY(mutex_);
  const size_t threads_count_;
  std::vector<std::thread> threads_;
};

}  // namespace armature::index

#endif  // ARMATURE_INDEX_GSI_APPLIER_H_
