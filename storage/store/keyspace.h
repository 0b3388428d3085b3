#ifndef ARMATURE_STORAGE_STORE_KEYSPACE_H_
#define ARMATURE_STORAGE_STORE_KEYSPACE_H_

// Where the rows of a table or an index live.

#include <cstdint>
#include <string>

#include "absl/synchronization/notification.h"
#include "storage/store/keyspace_stats.h"

namespace armature::store {

// A column family; defined inside the store only.
class ColumnFamily;

// Addresses data for every verb of the store. Today each keyspace has a family of its own; code above must not
// rely on that, so that many small tables can share a family later.
//
// Lifetime: valid as long as the CatalogSnapshot (or TableFamilies) it came from is held.
struct Keyspace {
  ColumnFamily* family = nullptr;
  // Totals of this keyspace, kept exact with every commit. Null where none are kept.
  KeyspaceStats* stats = nullptr;
};

// What the keyspace is called in errors: tells those of a database from each other.
std::string NameOf(const Keyspace& keyspace);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_KEYSPACE_H_
