#ifndef ARMATURE_STORAGE_STORE_DAMAGE_KEEPER_H_
#define ARMATURE_STORAGE_STORE_DAMAGE_KEEPER_H_

// Keeps on disk which column families are damaged, and keeps compactions away from them.

#include <string>

#include "absl/status/status.h"
#include "storage/base/worker.h"
#include "storage/store/compaction_switches.h"

namespace rocksdb {
class Env;
}  // namespace rocksdb

namespace armature::store {

class RocksDb;

// OpenTableFile opens a table file, as a start does; CheckTableFile reads all of it and compares its checksums. Errors:
// DataLoss; Unavailable if the file cannot be read.
absl::Status OpenTableFile(rocksdb::Env* env, const std::string& path);
absl::Status CheckTableFile(rocksdb::Env* env, const std::string& path);

// Called when the database was opened, before its first write. Families whose damage is on record are set apart, unless
// the damaged file is whole again or gone: the operator has put it back, or a compaction of before had finished.
// Errors: those of reading `meta`.
absl::Status LoadDamages(RocksDb* db);

// Ends the attempts to compact the families that were found damaged, and records them. Waits for no write: false if
// something is left to do, or in progress. The caller then calls it again. One thread at a time.
bool KeepDamages(RocksDb* db, CompactionSwitches* switches);

// A thread that calls KeepDamages as soon as a damage is found. All other threads may wait for it: while RocksDB tries
// to compact a damaged family, the family's files may hold back all writes.
//
// Thread-safety: owned by one thread. Lifetime: `db` outlives it; the destructor joins the thread, which first sees the
// changes through that are in progress: they may wait for a damage that is still to be found.
class DamageKeeper {
 public:
  explicit DamageKeeper(RocksDb* db);
  ~DamageKeeper();
  DamageKeeper(const DamageKeeper&) = delete;
  DamageKeeper& operator=(const DamageKeeper&) = delete;

 private:
  Worker::Next Work();

  RocksDb* const db_;
  // Outlives the changes, which wake it.
  Worker worker_{"arm-damage", [this] { return Work(); }};
  CompactionSwitches switches_{db_, [this] { worker_.Wake(); }};
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_DAMAGE_KEEPER_H_
