#ifndef ARMATURE_INDEX_INDEX_KEY_H_
#define ARMATURE_INDEX_INDEX_KEY_H_

// Keys of index entries. docs/FORMAT.md, "Keys".

#include <optional>
#include <string>

#include "storage/model/item_view.h"
#include "storage/model/key_schema.h"
#include "storage/model/table_descriptor.h"

namespace armature::index {

// The key under which `item` stands in the index, or nullopt if it does not: a key attribute of the index (or of the
// table) is missing or has another type.
//
// LSI: hash and partition components of the table, the index's sort component, the table's sort component; so one
// partition's rows stay together. GSI: hash and partition components of the index, its sort components, then the
// table's whole key, which keeps entries with equal index keys apart.
std::optional<std::string> EncodeIndexKey(model::IndexKind kind, const model::KeySchema& index_key,
                                          const model::KeySchema& table_key, const model::ItemView& item);

}  // namespace armature::index

#endif  // ARMATURE_INDEX_INDEX_KEY_H_
