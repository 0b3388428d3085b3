#ifndef ARMATURE_STORAGE_STORE_ROCKS_OPTIONS_H_
#define ARMATURE_STORAGE_STORE_ROCKS_OPTIONS_H_

// Storage-engine options by class of column family. Inside the store only.

#include <memory>

#include "rocksdb/cache.h"
#include "rocksdb/options.h"
#include "storage/store/options.h"

namespace armature::store {

rocksdb::DBOptions MakeDbOptions(const DatabaseOptions& options);

// For rows of indexes and for the catalog: point reads and ranges.
rocksdb::ColumnFamilyOptions MakeDataFamilyOptions(const DatabaseOptions& options,
                                                   const std::shared_ptr<rocksdb::Cache>& cache);

// For rows of tables. Every write reads the row that it replaces, which is rarely in the memtable. A memtable filter
// avoids that search, which costs more than the rest of a read that finds nothing.
rocksdb::ColumnFamilyOptions MakeTableFamilyOptions(const DatabaseOptions& options,
                                                    const std::shared_ptr<rocksdb::Cache>& cache);

// For the change log: written once, read once in order, trimmed by range.
rocksdb::ColumnFamilyOptions MakeLogFamilyOptions(const DatabaseOptions& options,
                                                  const std::shared_ptr<rocksdb::Cache>& cache);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_ROCKS_OPTIONS_H_
