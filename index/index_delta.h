#ifndef ARMATURE_INDEX_INDEX_DELTA_H_
#define ARMATURE_INDEX_INDEX_DELTA_H_

// What a change of an item does to an index: a pure function of the item before and after.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/model/item_view.h"
#include "storage/model/key_schema.h"
#include "storage/store/catalog/catalog.h"

namespace armature::index {

// The row of an index that stands for an item.
struct Entry {
  std::string key;
  std::string item;     // canonical bytes
  size_t api_size = 0;  // of the entry's item
};

// The entry of `item` in `index` (of a table with key `table_key`), or nullopt if it has none there.
std::optional<Entry> MakeEntry(const store::Index& index, const model::KeySchema& table_key,
                               const model::ItemView& item);

// At most one entry goes and at most one comes; both when the key changed.
struct EntryChange {
  const store::Index* index = nullptr;
  std::optional<std::string> removed_key;  // row to delete
  std::optional<std::string> put_key;      // row to write
  std::string put_value;                   // stored item
  // Sizes of the entry before and after as the API counts them; absent where there is no entry.
  std::optional<size_t> old_size;
  std::optional<size_t> new_size;

  int64_t item_delta() const { return (new_size.has_value() ? 1 : 0) - (old_size.has_value() ? 1 : 0); }
  int64_t byte_delta() const {
    return static_cast<int64_t>(new_size.value_or(0)) - static_cast<int64_t>(old_size.value_or(0));
  }
};

// Changes of `indexes` (of one table with key `table_key`) when an item goes from `before` to `after`; nullopt is "no
// item". Indexes whose entry stays the same by value are left out: no write is charged for them. So are those that are
// not maintained (yet, or any more).
// Source: the developer guide, write considerations of local and global secondary indexes.
std::vector<EntryChange> IndexDelta(const std::vector<store::Index>& indexes, const model::KeySchema& table_key,
                                    const std::optional<model::ItemView>& before,
                                    const std::optional<model::ItemView>& after);

}  // namespace armature::index

#endif  // ARMATURE_INDEX_INDEX_DELTA_H_
