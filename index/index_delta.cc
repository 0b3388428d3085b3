#include "index/index_delta.h"

#include <utility>

#include "index/index_entry.h"
#include "storage/codec/stored_item.h"

namespace armature::index {
namespace {

std::optional<Entry> EntryOf(const store::Index& index, const model::KeySchema& table_key,
                             const std::optional<model::ItemView>& item) {
  return item.has_value() ? MakeEntry(index, table_key, *item) : std::nullopt;
}

}  // namespace

std::optional<Entry> MakeEntry(const store::Index& index, const model::KeySchema& table_key,
                               const model::ItemView& item) {
  std::optional<std::string> key = EncodeIndexKey(index.descriptor.kind, index.descriptor.key, table_key, item);
  if (!key.has_value()) return std::nullopt;
  std::string projected = ProjectEntry(index, item);
  const size_t api_size = model::ApiSize(model::ItemView(projected));
  return Entry{std::move(*key), std::move(projected), api_size};
}

std::vector<EntryChange> IndexDelta(const std::vector<store::Index>& indexes, const model::KeySchema& table_key,
                                    const std::optional<model::ItemView>& before,
                                    const std::optional<model::ItemView>& after) {
  std::vector<EntryChange> changes;
  for (const store::Index& index : indexes) {
    if (!index.is_maintained()) continue;
    std::optional<Entry> old_entry = EntryOf(index, table_key, before);
    std::optional<Entry> new_entry = EntryOf(index, table_key, after);
    if (!old_entry.has_value() && !new_entry.has_value()) continue;
    const bool same_key = old_entry.has_value() && new_entry.has_value() && old_entry->key == new_entry->key;
    if (same_key && old_entry->item == new_entry->item) continue;
    EntryChange change;
    change.index = &index;
    if (old_entry.has_value()) {
      change.old_size = old_entry->api_size;
      if (!same_key) change.removed_key = std::move(old_entry->key);
    }
    if (new_entry.has_value()) {
      change.new_size = new_entry->api_size;
      change.put_key = std::move(new_entry->key);
      change.put_value = codec::EncodeStoredItem(new_entry->item, new_entry->api_size);
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace armature::index
