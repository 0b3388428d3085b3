#ifndef ARMATURE_STORAGE_STORE_COMMIT_FAMILY_MAKER_H_
#define ARMATURE_STORAGE_STORE_COMMIT_FAMILY_MAKER_H_

// Makes the column families of tables and indexes before the first write to them.

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/worker.h"
#include "storage/store/commit/committer.h"
#include "storage/store/commit/write_unit.h"
#include "storage/store/options.h"

namespace armature::store {

class ColumnFamily;
class RocksDb;

// The way to the committer. A commit whose families are made passes at once, at the cost of a look at each of its rows.
// Other commits wait here while a thread makes their families: all that are waited for at the time in one call.
//
// Commits that touch a common family of a table or an index keep their order, also if only the first of them waits.
//
// Thread-safety: thread-safe.
class FamilyMaker {
 public:
  // All must outlive the object.
  FamilyMaker(const DatabaseOptions& options, RocksDb* db, Committer* committer);
  // The destructor passes on all commits that wait.
  FamilyMaker(const FamilyMaker&) = delete;
  FamilyMaker& operator=(const FamilyMaker&) = delete;

  // As the methods of Committer. Other errors, with nothing written: those of RocksDb::CreateFamilies, if a family of
  // the commit cannot be made, and ThrottlingException if too many commits wait. `done` may run on the thread that
  // makes families. Nullopt also for a commit that waits: nothing may be decided on it before its answer.
  std::optional<CommitEpoch> CommitAll(std::vector<WriteUnit> units, CommitCallback done, const CommitTerms& terms);
  std::vector<std::optional<CommitEpoch>> CommitEach(std::vector<Commitment> commitments);

 private:
  struct Waiting {
    std::vector<WriteUnit> units;
    CommitCallback done;
    CommitTerms terms;
    size_t bytes = 0;
  };

  // Moves the commit to those that wait and returns true, or returns false if it may pass. In the second case `refused`
  // is the reason if the commit is refused.
  bool Hold(std::vector<WriteUnit>* units, CommitCallback* done, const CommitTerms& terms, absl::Status* refused);
  // True if a family of `units` is touched by a commit that waits.
  bool TouchesWaiting(const std::vector<WriteUnit>& units) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Passes on the commits that wait, and those that come meanwhile.
  void PassOnAll();
  void PassOn(std::vector<Waiting> group);

  const DatabaseOptions options_;
  RocksDb* const db_;
  Committer* const committer_;

  std::atomic<size_t> held_ = 0;  // number of commits that wait or are passed on
  absl::Mutex mutex_;
  std::vector<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  size_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Number of rows of commits that wait or are passed on, by family.
  absl::flat_hash_map<const ColumnFamily*, size_t> touched_ ABSL_GUARDED_BY(mutex_);
  Worker worker_{"arm-families",
                 [this] {
                   PassOnAll();
                   return Worker::Next::WhenWoken();
                 },
                 [this] { PassOnAll(); }};
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_COMMIT_FAMILY_MAKER_H_
