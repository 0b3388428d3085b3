#ifndef ARMATURE_STORAGE_RADOS_RADOS_FILE_SYSTEM_H_
#define ARMATURE_STORAGE_RADOS_RADOS_FILE_SYSTEM_H_

// The files of a volume in RADOS for RocksDB. Inside this component only.

#include <memory>

#include "rocksdb/file_system.h"
#include "storage/rados/name_table.h"
#include "storage/rados/rados_session.h"
#include "storage/rados/table_copies.h"

namespace armature::rados {

// Nothing that is read is kept in memory: RocksDB's block cache is the only cache. Table files are copied to `copies`
// while they are written, and when a read did not find a copy; null: no copies. Inputs of compactions are read ahead.
// Files are appended to by one thread and synced by any (IsSyncThreadSafe). `copies` outlives the file system.
std::shared_ptr<rocksdb::FileSystem> NewRadosFileSystem(std::shared_ptr<RadosSession> session,
                                                        std::shared_ptr<NameTable> names, TableCopies* copies);

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_RADOS_FILE_SYSTEM_H_
