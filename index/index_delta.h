#ifndef ARMATURE_INDEX_INDEX_DELTA_H_
#define ARMATURE_INDEX_INDEX_DELTA_H_

// Computes the changes of index entries from the item before and after a write (pure functions).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/model/item_view.h"
#include "storage/model/key_schema.h"
#include "storage/store/catalog/catalog.h"

namespace armature::index {

// The entry of an item in an index.
struct Entry {
  std::string key;
  std::string item;     // canonical bytes
  size_t api_size = 0;  // of `item`
};

// The entry of `item` in `index` (of a table with key `table_key`), or nullopt if the item is not in the index.
std::optional<Entry> MakeEntry(const store::Index& index, const model::KeySchema& table_key,
                               const model::ItemView& item);

// Change of an index by one write: at most one entry is removed and at most one is written. Both if the key changed.
struct EntryChange {
  const store::Index* index = nullptr;
  std::optional<std::string> removed_key;  // key of the row to delete
  std::optional<std::string> put_key;      // key of the row to write
  std::string put_value;                   // stored item
  // API sizes of the entry before and after; nullopt if there is no entry.
  std::optional<size_t> old_size;
  std::optional<size_t> new_size;

  int64_t item_delta() const { return (new_size.has_value() ? 1 : 0) - (old_size.has_value() ? 1 : 0); }
  int64_t byte_delta() const {
    return static_cast<int64_t>(new_size.value_or(0)) - static_cast<int64_t>(old_size.value_or(0));
  }
};

// The changes of `indexes` (of one table with key `table_key`) when an item changes from `before` to `after`; nullopt
// means no item. Indexes whose entry stays equal by value are left out, and cost no write units. Indexes that are not
// maintained are left out, too. Source: the developer guide, write considerations of local and global secondary
// indexes.
std::vector<EntryChange> IndexDelta(const std::vector<store::Index>& indexes, const model::KeySchema& table_key,
                                    const std::optional<model::ItemView>& before,
                                    const std::optional<model::ItemView>& after);

}  // namespace armature::index

#endif  // ARMATURE_INDEX_INDEX_DELTA_H_
