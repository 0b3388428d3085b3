#include "index/index_changes.h"

#include "storage/codec/change_codec.h"
#include "storage/model/limits.h"

namespace armature::index {
namespace {

int64_t StoredGrowth(store::StatsDelta delta) {
  return delta.bytes + delta.items * static_cast<int64_t>(model::kStorageOverheadBytes);
}

}  // namespace

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

int64_t AddLocalIndexChanges(const store::Table& table, std::string_view collection_key, store::StatsDelta base_delta,
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
  unit->AddCounter(table.collections, collection_key, growth);
  return growth;
}

}  // namespace armature::index
