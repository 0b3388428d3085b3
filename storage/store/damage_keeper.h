#ifndef ARMATURE_STORAGE_STORE_DAMAGE_KEEPER_H_
#define ARMATURE_STORAGE_STORE_DAMAGE_KEEPER_H_

// Keeps on disk which column families are damaged, and keeps compactions away from them.

#include <string>

#include "absl/status/status.h"

namespace rocksdb {
class Env;
}  // namespace rocksdb

namespace armature::store {

class RocksDb;

// Reads all of a table file and compares its checksums. Errors: DataLoss; Unavailable if it cannot be read.
absl::Status CheckTableFile(rocksdb::Env* env, const std::string& path);

// Called when the database was opened. Families whose damage is on record are set apart, unless the damaged file is
// whole again or gone: the operator has put it back, or a compaction of before had finished. Errors: those of reading
// `meta`.
absl::Status LoadDamages(RocksDb* db);

// Called periodically by one thread: records the damages that were found since, and ends the attempts to compact these
// families.
void KeepDamages(RocksDb* db);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_DAMAGE_KEEPER_H_
