#ifndef ARMATURE_STORAGE_STORE_ROCKS_LOGGING_H_
#define ARMATURE_STORAGE_STORE_ROCKS_LOGGING_H_

// What RocksDB has to tell, in the daemon's own log.

#include <memory>

#include "rocksdb/env.h"
#include "rocksdb/listener.h"

namespace armature::store {

class DiskSpace;

// Warnings and errors go to the log. RocksDB's own log file is on the database's disk, and writing to it is the first
// thing that fails when that is full.
std::shared_ptr<rocksdb::Logger> MakeRocksLogger();

// Reports background errors, and tells `space`, which outlives it, of those that stop writes. RocksDB would resume by
// itself after some, but goes on with the log file whose writer has failed: RocksDb::Resume does not.
std::shared_ptr<rocksdb::EventListener> MakeErrorListener(DiskSpace* space);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_ROCKS_LOGGING_H_
