#ifndef ARMATURE_STORAGE_STORE_KEYSPACE_NAME_H_
#define ARMATURE_STORAGE_STORE_KEYSPACE_NAME_H_

// What keyspaces are called in errors.

#include <string>

#include "storage/store/keyspace.h"

namespace armature::store {

// Tells the keyspaces of a database from each other.
std::string NameOf(const Keyspace& keyspace);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_KEYSPACE_NAME_H_
