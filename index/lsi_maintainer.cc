#include "index/lsi_maintainer.h"

#include "storage/model/limits.h"

namespace armature::index {
namespace {

int64_t StoredGrowth(store::StatsDelta delta) {
  return delta.bytes + delta.items * static_cast<int64_t>(model::kStorageOverheadBytes);
}

}  // namespace

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
