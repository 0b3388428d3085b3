#ifndef ARMATURE_INDEX_INDEX_ENTRY_H_
#define ARMATURE_INDEX_INDEX_ENTRY_H_

// Keys and items of index entries. docs/reference/format.md, "Keys".

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/codec/item_codec.h"
#include "storage/model/item_view.h"
#include "storage/model/key_schema.h"
#include "storage/model/table_descriptor.h"
#include "storage/store/catalog/catalog.h"

namespace armature::index {

// A reason why an item with all key attributes is not in an index. Writes with such a fault are refused, but items may
// be older than the index. Source: the developer guide, "Detecting and correcting index key violations".
struct KeyFault {
  enum class Kind : uint8_t { kType, kEmpty, kTooLong };
  Kind kind;
  std::string attribute;
};

// The first fault of `item` in key order, or nullopt. A missing attribute is not a fault.
std::optional<KeyFault> FindKeyFault(const model::KeySchema& index_key, const model::ItemView& item);

// The key of the entry of `item` in the index. Nullopt if it has none: a key attribute of the index or of the table is
// missing or has a fault.
//
// LSI: hash and partition components of the table, the index's sort component, the table's sort component, so that the
// rows of one partition are adjacent. GSI: hash and partition components of the index, its sort components, then the
// table's whole key, which distinguishes entries with equal index keys.
std::optional<std::string> EncodeIndexKey(model::IndexKind kind, const model::KeySchema& index_key,
                                          const model::KeySchema& table_key, const model::ItemView& item);

// The key attributes of index and table, as canonical item bytes, from the key of an entry. Errors: DataLoss.
absl::StatusOr<std::string> DecodeIndexKey(model::IndexKind kind, const model::KeySchema& index_key,
                                           const model::KeySchema& table_key, std::string_view key);

// The entry's item in canonical bytes: key attributes of index and table, plus the listed attributes (INCLUDE) or all
// attributes (ALL).
std::string ProjectEntry(const store::Index& index, const model::ItemView& item);

// The entry of an item in an index.
struct Entry {
  std::string key;
  codec::CanonicalItem item;
};

// The entry of `item` in `index` (of a table with key `table_key`), or nullopt if the item is not in the index.
std::optional<Entry> MakeEntry(const store::Index& index, const model::KeySchema& table_key,
                               const model::ItemView& item);

// True if the entry holds the top-level attribute `name` of its item.
bool ProjectsAttribute(const store::Index& index, std::string_view name);

}  // namespace armature::index

#endif  // ARMATURE_INDEX_INDEX_ENTRY_H_
