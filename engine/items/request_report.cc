#include "engine/items/request_report.h"

#include <algorithm>

#include "storage/model/key_schema.h"
#include "storage/model/plain_item.h"

namespace armature::engine {

CapacitySums::CapacitySums(std::string_view report, CapacityUse use)
    : report_(ParseCapacityReport(report).value_or(CapacityReport::kNone)), use_(use) {}

void CapacitySums::Add(TableId table, std::optional<ConsumedCapacity> part) {
  if (!part.has_value()) return;
  const auto found = std::find(tables_.begin(), tables_.end(), table);
  if (found == tables_.end()) {
    tables_.push_back(table);
    sums_.push_back(*std::move(part));
    sums_.back().use = use_;
    return;
  }
  ConsumedCapacity& sum = sums_[static_cast<size_t>(found - tables_.begin())];
  sum.total += part->total;
  if (part->table.has_value()) sum.table = sum.table.value_or(0) + *part->table;
  for (const auto& [name, units] : part->local_indexes) sum.local_indexes[name] += units;
  for (const auto& [name, units] : part->global_indexes) sum.global_indexes[name] += units;
}

ItemCollectionMetrics MetricsOf(const RowWrite& row, int64_t growth) {
  std::vector<std::string> names;
  for (const model::KeyAttribute& attribute : row.table().descriptor.key.partition) names.push_back(attribute.name);
  std::sort(names.begin(), names.end());
  ItemCollectionMetrics metrics;
  metrics.key = model::PlainItem(model::PickAttributes(row.mutation->item_or_key(), names));
  // The size was read before the write. Other writes may have shrunk the collection since.
  const int64_t bytes = static_cast<int64_t>(row.collection_bytes) + growth;
  metrics.lower_gb = static_cast<double>(std::max<int64_t>(bytes, 0) >> 30);
  metrics.upper_gb = metrics.lower_gb + 1;
  return metrics;
}

void CollectionReports::Add(std::string_view table_name, const RowWrite& row) {
  if (!WantsCollection(metrics_, row)) return;
  const TableId id = row.table().descriptor.id;
  auto table = std::find_if(tables_.begin(), tables_.end(), [id](const Table& each) { return each.id == id; });
  if (table == tables_.end()) table = tables_.insert(table, {std::string(table_name), id, {}});
  Collection& collection =
      table->collections.try_emplace(index::CollectionKey(row.table(), row.key), Collection{&row}).first->second;
  collection.growth += row.effect.collection_growth;
}

std::vector<TableCollections> CollectionReports::Take() {
  std::vector<TableCollections> all;
  for (Table& table : tables_) {
    TableCollections& reported = all.emplace_back();
    reported.table_name = std::move(table.name);
    for (const auto& [key, collection] : table.collections) {
      reported.collections.push_back(MetricsOf(*collection.row, collection.growth));
    }
  }
  return all;
}

}  // namespace armature::engine
