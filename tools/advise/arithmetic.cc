#include "tools/advise/arithmetic.h"

#include <algorithm>
#include <cmath>

#include "storage/model/limits.h"

namespace armature::advise {
namespace {

constexpr double kRowsUnknown = 10;

double ShareNew(const Table& table, const AttributeList& list) {
  double share = 1;
  for (const AttributeId id : list) {
    const Attribute& attribute = table.attributes[id];
    share = std::min(share, attribute.share_new.value_or(attribute.share));
  }
  return share;
}

bool Touches(const Update& update, const AttributeList& list) { return !Common(update.attributes, list).empty(); }

// Number of index writes for one update of the table.
double WritesOfUpdate(const Table& table, const AttributeList& key, const Update& update,
                      const Projection& projection) {
  if (Touches(update, key)) {
    // The other key attributes decide about the existence of the entry.
    return Share(table, Without(key, update.attributes)) * (update.kind == UpdateKind::kChange ? 2 : 1);
  }
  const bool projected = projection.kind == ProjectionKind::kAll || Touches(update, projection.non_key);
  return projected ? Share(table, key) : 0;
}

}  // namespace

double AttributeBytes(const Attribute& attribute) {
  return static_cast<double>(attribute.name.size()) + attribute.value_bytes;
}

double Distinct(const Attribute& attribute) { return attribute.distinct.value_or(kDistinctUnknown); }

double Distinct(const Table& table, const AttributeList& list) {
  double product = 1;
  for (const AttributeId id : list) product *= Distinct(table.attributes[id]);
  return table.items && *table.items >= 1 ? std::min(product, *table.items) : product;
}

double HotShare(const Table& table, const AttributeList& list) {
  double share = 1;
  for (const AttributeId id : list) {
    const Attribute& attribute = table.attributes[id];
    share *= attribute.hot_share.value_or(1 / std::max(1.0, Distinct(attribute)));
  }
  return share;
}

double Share(const Table& table, const AttributeList& list) {
  double share = 1;
  for (const AttributeId id : list) share = std::min(share, table.attributes[id].share);
  return share;
}

double ItemBytes(const Table& table) {
  if (table.item_bytes) return *table.item_bytes;
  double bytes = 0;
  for (const Attribute& attribute : table.attributes) bytes += attribute.share * AttributeBytes(attribute);
  return bytes;
}

double WriteUnits(double bytes) { return std::max(1.0, std::ceil(bytes / kWriteUnitBytes)); }

double ReadUnits(double bytes, bool strong) {
  return std::max(1.0, std::ceil(bytes / kReadUnitBytes)) * (strong ? 1 : kEventualFactor);
}

double EntryBytes(const Table& table, const Key& table_key, const Key& key, const Projection& projection) {
  AttributeList keys = table_key.All();
  AddOnce(&keys, key.All());
  double bytes = 0;
  for (const AttributeId id : keys) bytes += AttributeBytes(table.attributes[id]);
  if (projection.kind == ProjectionKind::kAll) return std::max(bytes, ItemBytes(table));
  for (const AttributeId id : Without(projection.non_key, keys)) {
    bytes += table.attributes[id].share * AttributeBytes(table.attributes[id]);
  }
  return bytes;
}

std::optional<double> StorageBytes(const Table& table, double share, double entry_bytes) {
  if (!table.items) return std::nullopt;
  return *table.items * share * (entry_bytes + static_cast<double>(model::kStorageOverheadBytes));
}

double IndexWriteUnits(const Table& table, const Key& table_key, const Key& key, const Projection& projection) {
  const AttributeList attributes = key.All();
  double writes =
      table.puts_per_second * ShareNew(table, attributes) + table.deletes_per_second * Share(table, attributes);
  for (const Update& update : table.updates) {
    writes += update.per_second * WritesOfUpdate(table, attributes, update, projection);
  }
  return writes * WriteUnits(EntryBytes(table, table_key, key, projection));
}

double TableWriteUnits(const Table& table) {
  double writes = table.puts_per_second + table.deletes_per_second;
  for (const Update& update : table.updates) writes += update.per_second;
  return writes * WriteUnits(ItemBytes(table));
}

double Rows(const Table& table, const Pattern& pattern) {
  double rows = kRowsUnknown;
  if (pattern.rows) {
    rows = *pattern.rows;
  } else if (table.items) {
    rows = *table.items * Share(table, pattern.has) / std::max(1.0, Distinct(table, pattern.equality));
  }
  return std::max(1.0, std::min(rows, kPageBytes / std::max(1.0, ItemBytes(table))));
}

}  // namespace armature::advise
