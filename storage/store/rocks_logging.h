#ifndef ARMATURE_STORAGE_STORE_ROCKS_LOGGING_H_
#define ARMATURE_STORAGE_STORE_ROCKS_LOGGING_H_

// RocksDB's messages in the daemon's own log.

#include <memory>

#include "rocksdb/env.h"
#include "rocksdb/listener.h"

namespace armature::store {

class DiskSpace;

// Forwards warnings and errors to the daemon's log. RocksDB's own log file would be on the database's disk and would be
// the first to fail when that disk is full.
std::shared_ptr<rocksdb::Logger> MakeRocksLogger();

// Logs background errors and reports those that stop writes to `space`, which outlives the listener. Disables RocksDB's
// automatic recovery, which continues with the failed log file; see RocksDb::Resume.
std::shared_ptr<rocksdb::EventListener> MakeErrorListener(DiskSpace* space);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_ROCKS_LOGGING_H_
