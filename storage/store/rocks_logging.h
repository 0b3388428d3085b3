#ifndef ARMATURE_STORAGE_STORE_ROCKS_LOGGING_H_
#define ARMATURE_STORAGE_STORE_ROCKS_LOGGING_H_

// What RocksDB has to tell, in the daemon's own log.

#include <memory>

#include "rocksdb/env.h"
#include "rocksdb/listener.h"

namespace armature::store {

// Warnings and errors go to the log. RocksDB's own log file is on the database's disk, and writing to it is the first
// thing that fails when that is full.
std::shared_ptr<rocksdb::Logger> MakeRocksLogger();

// Reports background errors, and leaves the database read-only after a failed write to the write-ahead log. RocksDB
// would resume by itself once there is space again, but goes on with the log file whose writer has failed; a restart
// begins a new one and loses nothing.
std::shared_ptr<rocksdb::EventListener> MakeErrorListener();

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_ROCKS_LOGGING_H_
