#ifndef ARMATURE_INDEX_INDEX_KEY_H_
#define ARMATURE_INDEX_INDEX_KEY_H_

// Keys of index entries. docs/FORMAT.md, "Keys".

#include <cstdint>
#include <optional>
#include <string>

#include "storage/model/item_view.h"
#include "storage/model/key_schema.h"
#include "storage/model/table_descriptor.h"

namespace armature::index {

// What keeps an item out of an index although it has the attribute. Writes are refused for it, but items may be older
// than the index.
// Source: the developer guide, "Detecting and correcting index key violations".
struct KeyFault {
  enum class Kind : uint8_t { kType, kEmpty, kTooLong };
  Kind kind;
  std::string attribute;
};

// The first fault of `item` in the order of the key, or nullopt. A missing attribute is none.
std::optional<KeyFault> FindKeyFault(const model::KeySchema& index_key, const model::ItemView& item);

// The key under which `item` stands in the index, or nullopt if it does not: a key attribute of the index (or of the
// table) is missing or has a fault.
//
// LSI: hash and partition components of the table, the index's sort component, the table's sort component; so one
// partition's rows stay together. GSI: hash and partition components of the index, its sort components, then the
// table's whole key, which keeps entries with equal index keys apart.
std::optional<std::string> EncodeIndexKey(model::IndexKind kind, const model::KeySchema& index_key,
                                          const model::KeySchema& table_key, const model::ItemView& item);

}  // namespace armature::index

#endif  // ARMATURE_INDEX_INDEX_KEY_H_
