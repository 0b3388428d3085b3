#ifndef ARMATURE_STORAGE_STORE_ROCKS_OPTIONS_H_
#define ARMATURE_STORAGE_STORE_ROCKS_OPTIONS_H_

// Storage-engine options by class of column family. Inside the store only.

#include <memory>

#include "rocksdb/cache.h"
#include "rocksdb/options.h"
#include "storage/store/options.h"

namespace armature::store {

rocksdb::DBOptions MakeDbOptions(const DatabaseOptions& options);

// Rows of indexes, and the catalog: point reads and ranges.
rocksdb::ColumnFamilyOptions MakeDataFamilyOptions(const DatabaseOptions& options,
                                                   const std::shared_ptr<rocksdb::Cache>& cache);

// Rows of tables: every write reads the row that it replaces, which is not in the memtable as a rule. A filter spares
// the search there, which costs more than all the rest of a read that finds nothing.
rocksdb::ColumnFamilyOptions MakeTableFamilyOptions(const DatabaseOptions& options,
                                                    const std::shared_ptr<rocksdb::Cache>& cache);

// The change log: written once, read once in order, trimmed by range.
rocksdb::ColumnFamilyOptions MakeLogFamilyOptions(const DatabaseOptions& options,
                                                  const std::shared_ptr<rocksdb::Cache>& cache);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_ROCKS_OPTIONS_H_
