#ifndef ARMATURE_STORAGE_STORE_ROCKS_OPTIONS_H_
#define ARMATURE_STORAGE_STORE_ROCKS_OPTIONS_H_

// Ways to open RocksDB: options by class of column family, log and error listener, read-only databases. Inside the
// store only.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/listener.h"
#include "rocksdb/options.h"
#include "storage/store/options.h"

namespace armature::store {

class DamagedFamilies;
class DiskSpace;

// Options of the database, with the files of `options.volume`.
rocksdb::DBOptions MakeDbOptions(const DatabaseOptions& options);

// Options of families with point reads and ranges.
rocksdb::ColumnFamilyOptions MakeDataFamilyOptions(const DatabaseOptions& options,
                                                   const std::shared_ptr<rocksdb::Cache>& cache);

// Options of families with rows of tables, and of the catalog, which has the tokens of requests. Every write reads the
// row that it replaces, and a transaction its token, which are rarely in the memtable. A memtable filter avoids that
// search, which costs more than the rest of a read that finds nothing.
rocksdb::ColumnFamilyOptions MakeTableFamilyOptions(const DatabaseOptions& options,
                                                    const std::shared_ptr<rocksdb::Cache>& cache);

// Upper bound of the memory that the memtable of any family takes for its filter and its first rows.
size_t SmallMemtableBytes(const DatabaseOptions& options);

// Options of families that requests read by ranges only: their files have no filters.
rocksdb::ColumnFamilyOptions MakeRangeFamilyOptions(const DatabaseOptions& options,
                                                    const std::shared_ptr<rocksdb::Cache>& cache);

// Forwards warnings and errors to the daemon's log. RocksDB's own log file would be on the database's disk and would be
// the first to fail when that disk is full.
std::shared_ptr<rocksdb::Logger> MakeRocksLogger();

// Logs background errors and reports those that stop writes to `space`, which outlives the listener. Disables RocksDB's
// automatic recovery, which continues with the failed log file; see RocksDb::Resume.
// A damaged table file that a compaction meets is added to `damages`, and stops writes only if it is one of `meta`.
std::shared_ptr<rocksdb::EventListener> MakeErrorListener(DiskSpace* space, DamagedFamilies* damages);

// The files of `volume`, which cannot be changed: refuses to create, write, rename, link and remove files and
// directories. `current`, if not empty, is shown instead of the content of CURRENT, and some text instead of that of
// IDENTITY, which may be lost. `volume` outlives it.
std::unique_ptr<rocksdb::Env> MakeReadOnlyEnv(Volume* volume, std::string current);

// A database opened for reading only, and its column families by name.
struct ReadOnlyDb {
  ReadOnlyDb() = default;
  ~ReadOnlyDb();
  ReadOnlyDb(const ReadOnlyDb&) = delete;
  ReadOnlyDb& operator=(const ReadOnlyDb&) = delete;

  // Opens all families of the database in `path` with one cache of `cache_bytes`.
  rocksdb::Status Open(const rocksdb::DBOptions& options, const std::string& path, size_t cache_bytes);

  std::unique_ptr<rocksdb::DB> db;  // null: not open
  std::map<std::string, rocksdb::ColumnFamilyHandle*, std::less<>> families;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_ROCKS_OPTIONS_H_
