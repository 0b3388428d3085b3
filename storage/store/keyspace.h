#ifndef ARMATURE_STORAGE_STORE_KEYSPACE_H_
#define ARMATURE_STORAGE_STORE_KEYSPACE_H_

// The address of the rows of a table or an index.

#include <cstdint>
#include <string>

#include "absl/synchronization/notification.h"
#include "storage/store/keyspace_stats.h"

namespace armature::store {

// Defined inside the store only.
class ColumnFamily;

// Identifies the rows of one table or index in every operation of the store. Today each keyspace has its own column
// family. Code above the store must not rely on that: many small tables may share a family later.
//
// Lifetime: valid while the CatalogSnapshot (or TableFamilies) it came from is held.
struct Keyspace {
  ColumnFamily* family = nullptr;
  // Totals of this keyspace, updated exactly with every commit. Null if none are kept.
  KeyspaceStats* stats = nullptr;
};

// Name for error messages, unique within a database.
std::string NameOf(const Keyspace& keyspace);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_KEYSPACE_H_
