#ifndef ARMATURE_INDEX_INDEX_DELTA_H_
#define ARMATURE_INDEX_INDEX_DELTA_H_

// Changes of index entries: computed from the item before and after a write, and added to its write unit.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/codec/change_codec.h"
#include "storage/model/item_view.h"
#include "storage/model/key_schema.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/commit/write_unit.h"

namespace armature::index {

// Change of an index by one write: at most one entry is removed and at most one is written. Both if the key changed.
// Lifetime: `put_item` points into the item after the write.
struct EntryChange {
  const store::Index* index = nullptr;
  std::optional<std::string> removed_key;  // key of the row to delete
  std::optional<std::string> put_key;      // key of the row to write
  codec::ItemExcerpt put_item;             // its item
  // API sizes of the entry before and after; nullopt if there is no entry.
  std::optional<size_t> old_size;
  std::optional<size_t> new_size;

  int64_t item_delta() const { return (new_size.has_value() ? 1 : 0) - (old_size.has_value() ? 1 : 0); }
  int64_t byte_delta() const {
    return static_cast<int64_t>(new_size.value_or(0)) - static_cast<int64_t>(old_size.value_or(0));
  }
};

// An item, and its measure if the caller knows it.
struct ItemImage {
  ItemImage(model::ItemView view) : item(view) {}  // NOLINT(google-explicit-constructor): an item is an image
  ItemImage(model::ItemView view, model::ItemMeasure known) : item(view), measure(known) {}

  model::ItemView item;
  std::optional<model::ItemMeasure> measure;
};

// An item before and after a write, taken apart once for all indexes of its table.
//
// Thread-safety: owned by one thread. Lifetime: the items and `table_key` must outlive it.
class ItemDelta {
 public:
  // Nullopt means no item.
  ItemDelta(const model::KeySchema& table_key, const std::optional<ItemImage>& before,
            const std::optional<ItemImage>& after);
  ~ItemDelta();
  ItemDelta(const ItemDelta&) = delete;
  ItemDelta& operator=(const ItemDelta&) = delete;

  // The changes of `indexes` of the table. Indexes whose entry stays equal by value are left out, and cost no write
  // units. Indexes that are not maintained are left out, too. Source: the developer guide, write considerations of
  // local and global secondary indexes.
  std::vector<EntryChange> ChangesOf(const std::vector<store::Index>& indexes) const;

 private:
  class Fields;
  std::optional<EntryChange> ChangeOf(const store::Index& index) const;

  std::unique_ptr<const Fields> before_;  // null: no item that could have an entry
  std::unique_ptr<const Fields> after_;
};

// ItemDelta for one list of indexes.
std::vector<EntryChange> IndexDelta(const std::vector<store::Index>& indexes, const model::KeySchema& table_key,
                                    const std::optional<ItemImage>& before, const std::optional<ItemImage>& after);

// Sets the change record of `unit`. Without changes no record is written, because consumers would have nothing to do.
void RecordGlobalIndexChanges(const store::Table& table, std::string_view base_key, int64_t now_ms,
                              const std::vector<EntryChange>& changes, store::WriteUnit* unit);

// Key of the size counter of a row's item collection: the hash and partition components at the front of `row_key`.
std::string CollectionKey(const store::Table& table, std::string_view row_key);

// Adds the entry changes of local indexes to `unit`, and the growth of the item collection of row `row_key`. The growth
// is that of the base item in bytes plus that of its entries, each with the storage overhead. Returns the growth; 0
// without local indexes.
int64_t AddLocalIndexChanges(const store::Table& table, std::string_view row_key, store::StatsDelta base_delta,
                             const std::vector<EntryChange>& changes, store::WriteUnit* unit);

}  // namespace armature::index

#endif  // ARMATURE_INDEX_INDEX_DELTA_H_
