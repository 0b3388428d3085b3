#include "index/index_delta.h"

#include <utility>

#include "index/index_entry.h"
#include "storage/codec/change_codec.h"
#include "storage/codec/key_codec.h"
#include "storage/codec/stored_item.h"
#include "storage/model/limits.h"

namespace armature::index {
namespace {

std::optional<Entry> EntryOf(const store::Index& index, const model::KeySchema& table_key,
                             const std::optional<model::ItemView>& item) {
  return item.has_value() ? MakeEntry(index, table_key, *item) : std::nullopt;
}

int64_t StoredGrowth(store::StatsDelta delta) {
  return delta.bytes + delta.items * static_cast<int64_t>(model::kStorageOverheadBytes);
}

}  // namespace

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
    if (same_key && old_entry->item.bytes == new_entry->item.bytes) continue;
    EntryChange change;
    change.index = &index;
    if (old_entry.has_value()) {
      change.old_size = old_entry->item.api_size;
      if (!same_key) change.removed_key = std::move(old_entry->key);
    }
    if (new_entry.has_value()) {
      change.new_size = new_entry->item.api_size;
      change.put_key = std::move(new_entry->key);
      change.put_value = codec::EncodeStoredItem(new_entry->item);
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

void RecordGlobalIndexChanges(const store::Table& table, std::string_view base_key, int64_t now_ms,
                              const std::vector<EntryChange>& changes, store::WriteUnit* unit) {
  if (changes.empty()) return;
  codec::ChangeRecord record;
  record.time_ms = now_ms;
  record.base_key = base_key;
  for (const EntryChange& change : changes) {
    // The totals belong to the change as a whole. They are recorded with its first row.
    int64_t items = change.item_delta();
    int64_t bytes = change.byte_delta();
    uint64_t row_bytes = 0;
    const IndexId index = change.index->descriptor.id;
    if (change.removed_key.has_value()) {
      record.index_changes.push_back({index, true, *change.removed_key, {}, items, bytes});
      row_bytes += codec::RowBytes(record.index_changes.back());
      items = bytes = 0;
    }
    if (change.put_key.has_value()) {
      record.index_changes.push_back({index, false, *change.put_key, change.put_value, items, bytes});
      row_bytes += codec::RowBytes(record.index_changes.back());
    }
    if (change.index->progress != nullptr) unit->AddToBacklog(&change.index->progress->backlog(), row_bytes);
  }
  unit->SetChangeRecord(table.descriptor.id, codec::EncodeChangeRecord(record));
}

std::string CollectionKey(const store::Table& table, std::string_view row_key) {
  if (row_key.size() < codec::kPartitionHashBytes) return std::string(row_key);  // damaged
  std::string_view rest = row_key.substr(codec::kPartitionHashBytes);
  for (size_t i = 0; i < table.descriptor.key.partition.size(); ++i) {
    static_cast<void>(codec::TakeKeyComponent(&rest));
  }
  return std::string(row_key.substr(0, row_key.size() - rest.size()));
}

int64_t AddLocalIndexChanges(const store::Table& table, std::string_view row_key, store::StatsDelta base_delta,
                             const std::vector<EntryChange>& changes, store::WriteUnit* unit) {
  if (table.local_indexes.empty()) return 0;
  int64_t growth = StoredGrowth(base_delta);
  for (const EntryChange& change : changes) {
    const store::Keyspace& keyspace = change.index->keyspace;
    if (change.removed_key.has_value()) unit->Delete(keyspace, *change.removed_key);
    if (change.put_key.has_value()) unit->Put(keyspace, *change.put_key, change.put_value);
    const store::StatsDelta delta{change.item_delta(), change.byte_delta()};
    unit->AddStats(keyspace, delta);
    growth += StoredGrowth(delta);
  }
  unit->AddCounter(table.collections, CollectionKey(table, row_key), growth);
  return growth;
}

}  // namespace armature::index
