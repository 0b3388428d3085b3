#ifndef ARMATURE_INDEX_GSI_APPLIER_H_
#define ARMATURE_INDEX_GSI_APPLIER_H_

// Carries changes from the log of a table into its global indexes.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/strong_type.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/database.h"

namespace armature::index {

// A worker on one thread. Tables take turns, a bounded run of records each, so that a busy one does not hold up
// another.
//
// A run reads records behind the cursors of the table's indexes, for those together that have got equally far,
// collapses them per index row (the last change of a row wins), and writes the rows together with the advanced cursors
// in one batch: exactly once, in order per item, across restarts and kills. An index that is being filled is left alone
// until its scan is done (see IndexBuilder), and the log is kept for it.
//
// Thread-safety: thread-safe. Lifetime: the database must outlive it.
class GsiApplier : public store::ChangeConsumer {
 public:
  explicit GsiApplier(store::Database* database);
  ~GsiApplier() override;
  GsiApplier(const GsiApplier&) = delete;
  GsiApplier& operator=(const GsiApplier&) = delete;

  // Begins to work, with every table that has global indexes.
  void Start();
  // Finishes the run under way. What is left in the log waits for the next start.
  void Stop();

  void OnAppended(const std::vector<TableId>& tables) override;

  // One run for one table; true if its log is drained. Called by the thread, and by tests that do not Start.
  // Errors: those of the store, with nothing applied.
  absl::StatusOr<bool> RunOnce(TableId table);

 private:
  void Work();
  void Enqueue(TableId table) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A run up to `up_to` for indexes of a table that have got equally far; one that is being filled is alone.
  absl::StatusOr<store::ChangeLog::ReadOutcome> RunGroup(const std::shared_ptr<const store::CatalogSnapshot>& snapshot,
                                                         TableId table, const std::vector<const store::Index*>& indexes,
                                                         ChangeSequence up_to);
  absl::Status MaybeTrim(const store::Table& table, size_t records, bool drained);

  store::Database* const database_;
  absl::Mutex mutex_;
  absl::CondVar wake_;
  std::deque<TableId> queue_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<TableId, bool> queued_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // How far the log of a table was trimmed, and the records applied since. Used by the working thread only.
  struct Trims {
    size_t untrimmed = 0;
    ChangeSequence through;
  };
  absl::flat_hash_map<TableId, Trims> trims_;
  std::thread thread_;
};

}  // namespace armature::index

#endif  // ARMATURE_INDEX_GSI_APPLIER_H_
