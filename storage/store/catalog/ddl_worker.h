#ifndef ARMATURE_STORAGE_STORE_CATALOG_DDL_WORKER_H_
#define ARMATURE_STORAGE_STORE_CATALOG_DDL_WORKER_H_

// The thread that completes the creation and deletion of tables and indexes, and drops column families.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage/base/worker.h"
#include "storage/model/table_descriptor.h"

namespace armature::store {

class Catalog;
class CatalogSnapshot;
class RocksDb;

// Names of the column families that belong to no table of `catalog`.
std::vector<std::string> FamiliesWithoutTable(const CatalogSnapshot& catalog, RocksDb* db);

// Makes CREATING tables ACTIVE, begins the construction of CREATING indexes, and drops the families of DELETING ones
// that no one holds any more. Families are made before the first write, by FamilyMaker. The catalog is the job list, so
// a crash loses no work.
//
// Thread-safety: thread-safe.
class DdlWorker {
 public:
  // Both must outlive the worker.
  DdlWorker(Catalog* catalog, RocksDb* db);
  ~DdlWorker();
  DdlWorker(const DdlWorker&) = delete;
  DdlWorker& operator=(const DdlWorker&) = delete;

  // Wakes the thread: there may be work.
  void Wake() { worker_.Wake(); }
  // The listener of `owner` is called after each change, and after each RunOnce of the thread: the catalog may have
  // changed, or a lease was released. Null removes the listener; it is not running when the call returns.
  void SetListener(const void* owner, std::function<void()> listener);

  // Does the work that is possible now. Called by the thread, at open, and by tests.
  void RunOnce();

  // Drops empty families that belong to no table, left by a crash during a creation. Called before serving. Errors:
  // DataLoss, with nothing dropped, if such a family holds rows: the catalog has lost a table.
  absl::Status RemoveOrphans();

 private:
  Worker::Next Work();
  void CallListeners();
  // Pauses if clients have written since the last call. Tables are created meanwhile: that costs writers nothing, and
  // the clients that create them wait for it.
  void GiveWay(absl::Duration pause);
  // Drops families in small groups. An error leaves some of them.
  absl::Status Drop(const std::vector<std::string>& families);
  // Completes the creation or deletion of tables, or of global indexes, in `state`: CREATING or DELETING.
  void ChangeTables(model::TableState state);
  void ChangeIndexes(model::IndexState state);

  Catalog* const catalog_;
  RocksDb* const db_;
  absl::Mutex run_mutex_;  // one RunOnce at a time
  std::atomic<uint64_t> writes_seen_ = 0;
  absl::Mutex listener_mutex_;
  std::map<const void*, std::function<void()>> listeners_ ABSL_GUARDED_BY(listener_mutex_);
  Worker worker_{"arm-ddl", [this] { return Work(); }};
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_CATALOG_DDL_WORKER_H_
