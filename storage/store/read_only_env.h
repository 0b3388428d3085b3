#ifndef ARMATURE_STORAGE_STORE_READ_ONLY_ENV_H_
#define ARMATURE_STORAGE_STORE_READ_ONLY_ENV_H_

// The file system without anything that changes it. Inside the store only.

#include <memory>

#include "rocksdb/env.h"

namespace armature::store {

// Refuses to make, write, rename, link and remove files and directories, whatever RocksDB believes that it must do.
std::unique_ptr<rocksdb::Env> MakeReadOnlyEnv();

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_READ_ONLY_ENV_H_
