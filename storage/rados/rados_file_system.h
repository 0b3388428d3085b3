#ifndef ARMATURE_STORAGE_RADOS_RADOS_FILE_SYSTEM_H_
#define ARMATURE_STORAGE_RADOS_RADOS_FILE_SYSTEM_H_

// The files of a volume in RADOS for RocksDB. Inside this component only.

#include <memory>

#include "rocksdb/file_system.h"
#include "storage/rados/name_table.h"
#include "storage/rados/rados_session.h"

namespace armature::rados {

// Nothing that is read is kept here: RocksDB's block cache is the only cache. Inputs of compactions are read ahead.
// Files are appended to by one thread and synced by any (IsSyncThreadSafe).
std::shared_ptr<rocksdb::FileSystem> NewRadosFileSystem(std::shared_ptr<RadosSession> session,
                                                        std::shared_ptr<NameTable> names);

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_RADOS_FILE_SYSTEM_H_
