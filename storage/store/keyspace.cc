#include "storage/store/keyspace.h"

#include "storage/store/column_family.h"

namespace armature::store {

std::string NameOf(const Keyspace& keyspace) { return keyspace.family->name(); }

}  // namespace armature::store
