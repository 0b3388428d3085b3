#ifndef ARMATURE_STORAGE_STORE_READ_ONLY_ENV_H_
#define ARMATURE_STORAGE_STORE_READ_ONLY_ENV_H_

// A file system that cannot be changed. Inside the store only.

#include <memory>

#include "rocksdb/env.h"

namespace armature::store {

// Refuses to create, write, rename, link and remove files and directories.
std::unique_ptr<rocksdb::Env> MakeReadOnlyEnv();

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_READ_ONLY_ENV_H_
