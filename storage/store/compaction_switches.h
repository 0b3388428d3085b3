#ifndef ARMATURE_STORAGE_STORE_COMPACTION_SWITCHES_H_
#define ARMATURE_STORAGE_STORE_COMPACTION_SWITCHES_H_

// Ends and begins the compactions of column families without waiting. Inside the store only.

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace armature::store {

class RocksDb;

// RocksDB lets a change of a family's options take effect, and then waits to write it to a file: behind a write that
// the files of another family may hold back. The change of the other family must not wait for it, so each change has a
// thread of its own. All of them come to an end when no family holds the write back any more, and RocksDb::WakeWrites
// was called.
//
// Thread-safety: owned by one thread. Lifetime: the destructor waits for the changes; `db` outlives it.
class CompactionSwitches {
 public:
  // Calls `ended` when a change has ended, on its thread. It must only take a note. May be null.
  CompactionSwitches(RocksDb* db, std::function<void()> ended);
  ~CompactionSwitches();
  CompactionSwitches(const CompactionSwitches&) = delete;
  CompactionSwitches& operator=(const CompactionSwitches&) = delete;

  // True if the compactions of `family` have been ended. Else begins to end them, unless the family is being changed:
  // to be called again.
  bool Stop(const std::string& family);
  // Begins the compactions of a family that is not being changed.
  void Start(const std::string& family);
  bool is_any_in_progress() const;

 private:
  enum class Change { kStop, kStart };
  bool IsInProgress(const std::string& family) const;
  void Begin(const std::string& family, Change change);
  void Run(const std::string& family, Change change);

  RocksDb* const db_;
  const std::function<void()> ended_;
  mutable absl::Mutex mutex_;
  std::map<std::string, std::thread> in_progress_ ABSL_GUARDED_BY(mutex_);  // by family
  std::vector<std::thread> done_ ABSL_GUARDED_BY(mutex_);                   // to be joined
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_COMPACTION_SWITCHES_H_
