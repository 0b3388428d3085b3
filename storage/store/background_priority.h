#ifndef ARMATURE_STORAGE_STORE_BACKGROUND_PRIORITY_H_
#define ARMATURE_STORAGE_STORE_BACKGROUND_PRIORITY_H_

// Flushes and compactions yield the processor to requests. Inside the store only.

#include <memory>

#include "rocksdb/listener.h"

namespace armature::store {

// Lowers the priority of the threads in which flushes and compactions run: on a machine whose processors are busy,
// requests would wait behind them for a time slice. They still get a part of the time that lets flushes keep up with
// writes; if compactions do not keep up, RocksDB slows writers, which frees the processor for them.
std::shared_ptr<rocksdb::EventListener> MakePriorityListener();

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKGROUND_PRIORITY_H_
