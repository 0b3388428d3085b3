#ifndef ARMATURE_STORAGE_STORE_FILES_RANDOM_FILE_H_
#define ARMATURE_STORAGE_STORE_FILES_RANDOM_FILE_H_

#include <memory>
#include <string>

#include "rocksdb/file_system.h"

namespace armature::store {

// Opens a file of this machine for RocksDB's reads at random places, through the page cache. Reads heed NoWaitReads.
// Errors: PathNotFound; NoSpace without descriptors; IOError. Each text names the path.
rocksdb::IOStatus OpenRandomFile(const std::string& path, std::unique_ptr<rocksdb::FSRandomAccessFile>* file);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_FILES_RANDOM_FILE_H_
