#ifndef ARMATURE_STORAGE_STORE_CATALOG_DDL_WORKER_H_
#define ARMATURE_STORAGE_STORE_CATALOG_DDL_WORKER_H_

// The thread that creates and drops column families.

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "storage/model/table_descriptor.h"

namespace armature::store {

class Catalog;
class RocksDb;

// Makes the files agree with the catalog: CREATING tables and indexes get their families and become ACTIVE or are ready
// to be filled, DELETING ones lose them once nobody holds them and are forgotten. All that waits is done in one call to
// the engine, because each call costs a rewrite of its options file. The catalog is the job list, so a crash loses
// nothing.
//
// Thread-safety: thread-safe.
class DdlWorker {
 public:
  // Both must outlive the worker.
  DdlWorker(Catalog* catalog, RocksDb* db);
  ~DdlWorker();
  DdlWorker(const DdlWorker&) = delete;
  DdlWorker& operator=(const DdlWorker&) = delete;

  // There may be something to do.
  void Wake();
  // Called after each RunOnce of the thread: the catalog may have changed, or somebody has let go of a part of it.
  // Null: not any more, and after this returns it does not run.
  void SetListener(std::function<void()> listener);

  // Does what can be done now. Called by the thread; also at open and by tests.
  void RunOnce();

  // Drops families that belong to no table: a creation that a crash cut off. Call before serving.
  void RemoveOrphans();

 private:
  void Work();
  absl::Status ChangeFamilies(bool creates, const std::vector<std::string>& families);
  // Completes the creation or deletion of tables, or of global indexes, in `state`: CREATING or DELETING.
  void ChangeTables(model::TableState state);
  void ChangeIndexes(model::IndexState state);

  Catalog* const catalog_;
  RocksDb* const db_;
  absl::Mutex run_mutex_;  // one RunOnce at a time
  absl::Mutex mutex_;
  absl::CondVar wake_;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Mutex listener_mutex_;
  std::function<void()> listener_ ABSL_GUARDED_BY(listener_mutex_);
  std::thread thread_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_CATALOG_DDL_WORKER_H_
