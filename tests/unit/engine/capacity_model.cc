#include "tests/unit/engine/capacity_model.h"

#include <algorithm>
#include <sstream>

namespace armature::engine {
namespace {

// Counts units by adding one at a time.
int Started(size_t bytes, size_t unit_bytes) {
  int units = 1;
  for (size_t covered = unit_bytes; covered < bytes; covered += unit_bytes) ++units;
  return units;
}

int WriteUnitsOf(const ModelItem& item) { return Started(ApiSizeOf(item), 1024); }

int ReadUnitsOf(size_t bytes) { return Started(bytes, 4096); }

double Weight(bool consistent) { return consistent ? 1.0 : 0.5; }

Tuple KeyOf(const ModelKeyspace& keyspace, const ModelItem& entry) {
  Tuple key = Pick(entry, keyspace.partition);
  const Tuple sort = Pick(entry, keyspace.sort);
  key.insert(key.end(), sort.begin(), sort.end());
  return key;
}

// Write units of the index for the change of one entry, 0 if nothing changes.
int UnitsOfEntry(const ModelKeyspace& index, const std::optional<ModelItem>& before,
                 const std::optional<ModelItem>& after) {
  if (!before.has_value() && !after.has_value()) return 0;
  if (!before.has_value()) return WriteUnitsOf(*after);
  if (!after.has_value()) return WriteUnitsOf(*before);
  if (KeyOf(index, *before) != KeyOf(index, *after)) return WriteUnitsOf(*before) + WriteUnitsOf(*after);
  if (*before == *after) return 0;
  return std::max(WriteUnitsOf(*before), WriteUnitsOf(*after));
}

}  // namespace

double ModelCapacity::Sum() const {
  double sum = table;
  for (const auto& [name, units] : local) sum += units;
  for (const auto& [name, units] : global) sum += units;
  return sum;
}

ModelCapacity CapacityOfWrite(const std::vector<ModelKeyspace>& keyspaces, const std::optional<ModelItem>& before,
                              const std::optional<ModelItem>& after) {
  ModelCapacity capacity;
  capacity.table = 1;
  for (const std::optional<ModelItem>* const item : {&before, &after}) {
    if (item->has_value()) capacity.table = std::max<double>(capacity.table, WriteUnitsOf(**item));
  }
  for (const ModelKeyspace& keyspace : keyspaces) {
    if (!keyspace.index_name.has_value()) continue;
    const auto entry_of = [&keyspace](const std::optional<ModelItem>& item) {
      return item.has_value() ? keyspace.EntryOf(*item) : std::nullopt;
    };
    const int units = UnitsOfEntry(keyspace, entry_of(before), entry_of(after));
    if (units > 0) (keyspace.global ? capacity.global : capacity.local)[*keyspace.index_name] = units;
  }
  return capacity;
}

ModelCapacity CapacityOfGet(const std::optional<ModelItem>& item, bool consistent) {
  ModelCapacity capacity;
  capacity.table = Weight(consistent) * ReadUnitsOf(item.has_value() ? ApiSizeOf(*item) : 0);
  return capacity;
}

ModelCapacity CapacityOfPage(const ModelKeyspace& keyspace, const std::vector<ModelItem>& scanned,
                             const std::vector<ModelItem>& fetched, bool consistent) {
  const double weight = Weight(consistent && !keyspace.global);
  size_t bytes = 0;
  for (const ModelItem& entry : scanned) bytes += ApiSizeOf(entry);
  const double units = weight * ReadUnitsOf(bytes);
  ModelCapacity capacity;
  if (!keyspace.index_name.has_value()) {
    capacity.table = units;
    return capacity;
  }
  (keyspace.global ? capacity.global : capacity.local)[*keyspace.index_name] = units;
  for (const ModelItem& item : fetched) capacity.table += weight * ReadUnitsOf(ApiSizeOf(item));
  return capacity;
}

std::string Told(const ModelCapacity& capacity, std::string_view mode, std::string_view table_name) {
  if (mode == "NONE") return Told(std::nullopt);
  ConsumedCapacity told;
  told.table_name = std::string(table_name);
  told.total = capacity.Sum();
  if (mode == "INDEXES") {
    told.table = capacity.table;
    told.local_indexes = capacity.local;
    told.global_indexes = capacity.global;
  }
  return Told(told);
}

std::string Told(const std::optional<ConsumedCapacity>& capacity) {
  if (!capacity.has_value()) return "nothing";
  std::ostringstream text;
  text << capacity->table_name << ": " << capacity->total;
  if (capacity->table.has_value()) text << ", table " << *capacity->table;
  for (const auto& [name, units] : capacity->local_indexes) text << ", local " << name << " " << units;
  for (const auto& [name, units] : capacity->global_indexes) text << ", global " << name << " " << units;
  return text.str();
}

}  // namespace armature::engine
