#ifndef ARMATURE_STORAGE_STORE_COLUMN_FAMILY_H_
#define ARMATURE_STORAGE_STORE_COLUMN_FAMILY_H_

// The column family behind a Keyspace. Inside the store only.

#include <memory>
#include <string>

#include "rocksdb/db.h"
#include "storage/store/keyspace.h"

namespace armature::store {

// Thread-safety: immutable after construction, except for the atomic totals.
class ColumnFamily {
 public:
  ColumnFamily(std::string name, rocksdb::ColumnFamilyHandle* handle, StatsDelta totals)
      : handle_(handle), stats_(std::move(name), totals) {}

  const std::string& name() const { return stats_.family_name(); }
  rocksdb::ColumnFamilyHandle* handle() const { return handle_; }
  KeyspaceStats* stats() { return &stats_; }

 private:
  rocksdb::ColumnFamilyHandle* handle_;  // destroyed by its database
  KeyspaceStats stats_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_COLUMN_FAMILY_H_
