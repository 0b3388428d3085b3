#include "tools/advise/workload.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/statusor.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"

namespace armature::advise {
namespace {

namespace v1 = ::armature::api::v1;

// Assumed number of items of a table without a given number.
constexpr double kItemsUnknown = 1e9;

absl::Status Wrong(std::string_view message) { return absl::InvalidArgumentError(Av(message)); }

AttributeType TypeOf(const v1::TableDescription& live, const std::string& name) {
  for (const v1::AttributeDefinition& definition : live.attribute_definitions()) {
    if (definition.attribute_name() != name) continue;
    if (definition.attribute_type() == v1::SCALAR_ATTRIBUTE_TYPE_N) return AttributeType::kNumber;
    if (definition.attribute_type() == v1::SCALAR_ATTRIBUTE_TYPE_B) return AttributeType::kBinary;
  }
  return AttributeType::kString;
}

AttributeId AddAttribute(const std::string& name, AttributeType type, Table* table) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = type;
  attribute.value_bytes = DefaultValueBytes(type);
  table->attributes.push_back(std::move(attribute));
  return table->attributes.size() - 1;
}

absl::StatusOr<AttributeId> KeyAttributeOf(const v1::TableDescription& live, const std::string& name, Table* table) {
  const AttributeType type = TypeOf(live, name);
  const std::optional<AttributeId> known = FindAttribute(*table, name);
  if (!known) return AddAttribute(name, type, table);
  if (table->attributes[*known].type == type) return *known;
  return Wrong(Cat("table.attributes.", name, ".type: the live table has another type for this key attribute"));
}

absl::StatusOr<Key> KeyOf(const v1::TableDescription& live,
                          const google::protobuf::RepeatedPtrField<v1::KeySchemaElement>& schema, Table* table) {
  Key key;
  for (const v1::KeySchemaElement& element : schema) {
    ARM_ASSIGN_OR_RETURN(const AttributeId id, KeyAttributeOf(live, element.attribute_name(), table));
    (element.key_type() == v1::KEY_TYPE_HASH ? key.partition : key.sort).push_back(id);
  }
  return key;
}

ProjectionKind ProjectionKindOf(v1::ProjectionType type) {
  if (type == v1::PROJECTION_TYPE_ALL) return ProjectionKind::kAll;
  return type == v1::PROJECTION_TYPE_INCLUDE ? ProjectionKind::kInclude : ProjectionKind::kKeysOnly;
}

// `Index`: the description of a local or a global index.
template <class Index>
absl::Status AddIndex(const v1::TableDescription& live, const Index& from, bool is_local, Table* table) {
  ExistingIndex index;
  index.name = from.index_name();
  index.local = is_local;
  ARM_ASSIGN_OR_RETURN(index.key, KeyOf(live, from.key_schema(), table));
  index.projection.kind = ProjectionKindOf(from.projection().projection_type());
  for (const std::string& name : from.projection().non_key_attributes()) {
    const std::optional<AttributeId> known = FindAttribute(*table, name);
    // An attribute that no pattern names still counts in the size of the index.
    index.projection.non_key.push_back(known ? *known : AddAttribute(name, AttributeType::kOther, table));
  }
  table->indexes.push_back(std::move(index));
  return absl::OkStatus();
}

void AddSizes(const v1::TableDescription& live, Table* table, std::vector<std::string>* notes) {
  if (live.item_count() <= 0) {
    notes->push_back(Cat("The live table ", live.table_name(), " is empty, or does not know its number of items yet: ",
                         table->items ? "the number in the file is used."
                                      : "totals are not estimated; give table.items and table.item_bytes."));
    return;
  }
  const auto items = static_cast<double>(live.item_count());
  const auto bytes = static_cast<double>(live.table_size_bytes());
  if (!table->items) table->items = items;
  if (!table->item_bytes && bytes > 0) table->item_bytes = bytes / items;
}

// `place`: the place of the key in the file.
absl::Status CheckKeyAttributes(const Table& table, std::string_view place, const AttributeList& list) {
  for (const AttributeId id : list) {
    const Attribute& attribute = table.attributes[id];
    if (!attribute.CanBeKey()) {
      return Wrong(Cat(place, ": ", attribute.name, " cannot be a key attribute: its type must be S, N or B"));
    }
    if (attribute.IsSparse()) {
      return Wrong(Cat(place, ": every item needs ", attribute.name, ", but its share is below 1"));
    }
  }
  return absl::OkStatus();
}

constexpr double kRowsUnknown = 10;

double ShareNew(const Table& table, const AttributeList& list) {
  double share = 1;
  for (const AttributeId id : list) {
    const Attribute& attribute = table.attributes[id];
    share = std::min(share, attribute.share_new.value_or(attribute.share));
  }
  return share;
}

// Number of index writes for one update of the table.
double WritesOfUpdate(const Table& table, const AttributeList& key, const Update& update,
                      const Projection& projection) {
  if (!Common(update.attributes, key).empty()) {
    // The other key attributes decide about the existence of the entry.
    return Share(table, Without(key, update.attributes)) * (update.kind == UpdateKind::kChange ? 2 : 1);
  }
  const bool projected =
      projection.kind == ProjectionKind::kAll || !Common(update.attributes, projection.non_key).empty();
  return projected ? Share(table, key) : 0;
}

}  // namespace

double DefaultValueBytes(AttributeType type) {
  constexpr double kBytes[] = {20, 5, 64, 100};  // in the order of AttributeType
  return kBytes[static_cast<size_t>(type)];
}

AttributeList Key::All() const {
  AttributeList all = partition;
  all.insert(all.end(), sort.begin(), sort.end());
  return all;
}

std::optional<AttributeId> FindAttribute(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table.attributes, name, &Attribute::name);
  if (found == table.attributes.end()) return std::nullopt;
  return static_cast<AttributeId>(found - table.attributes.begin());
}

bool Contains(const AttributeList& list, AttributeId id) { return std::ranges::find(list, id) != list.end(); }

bool IsSubset(const AttributeList& part, const AttributeList& whole) {
  return std::ranges::all_of(part, [&whole](AttributeId id) { return Contains(whole, id); });
}

void AddOnce(AttributeList* list, AttributeId id) {
  if (!Contains(*list, id)) list->push_back(id);
}

void AddOnce(AttributeList* list, const AttributeList& more) {
  for (const AttributeId id : more) AddOnce(list, id);
}

AttributeList Without(const AttributeList& list, const AttributeList& removed) {
  AttributeList rest = list;
  std::erase_if(rest, [&removed](AttributeId id) { return Contains(removed, id); });
  return rest;
}

AttributeList Common(const AttributeList& list, const AttributeList& other) {
  AttributeList common = list;
  std::erase_if(common, [&other](AttributeId id) { return !Contains(other, id); });
  return common;
}

std::string Listed(const std::vector<std::string>& words, std::string_view conjunction) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool last = i + 1 == words.size();
    text += Cat(i == 0 ? "" : last ? Cat(" ", conjunction, " ") : ", ", words[i]);
  }
  return text;
}

std::string NamesOf(const Table& table, const AttributeList& list) {
  std::vector<std::string> names;
  for (const AttributeId id : list) names.push_back(table.attributes[id].name);
  return Listed(names);
}

absl::Status CheckWorkload(const Workload& workload) {
  const Table& table = workload.table;
  if (table.name.empty()) return Wrong("table.name is required");
  if (table.key) {
    if (table.key->partition.size() != 1 || table.key->sort.size() > 1) {
      return Wrong("table.key: a table has one partition attribute and at most one sort attribute");
    }
    return CheckKeyAttributes(table, "table.key", table.key->All());
  }
  if (table.created) return Wrong("table.key is required for a table that is created");
  if (table.identity.empty() || table.identity.size() > 2) {
    return Wrong(
        "table: give \"key\" if it is decided, or else \"identity\", the one or two attributes that together identify "
        "an item");
  }
  return CheckKeyAttributes(table, "table.identity", table.identity);
}

absl::Status AddLiveTable(const v1::TableDescription& live, Workload* workload, std::vector<std::string>* notes) {
  Table& table = workload->table;
  if (table.name.empty()) table.name = live.table_name();
  table.created = true;
  ARM_ASSIGN_OR_RETURN(Key key, KeyOf(live, live.key_schema(), &table));
  if (table.key && *table.key != key) {
    return Wrong(Cat("table.key: the live table ", live.table_name(), " has the key ", NamesOf(table, key.All())));
  }
  table.key = std::move(key);
  table.identity.clear();
  if (!table.indexes.empty()) return Wrong("table.indexes: the live table tells its indexes; leave them out");
  for (const auto& index : live.local_secondary_indexes()) {
    ARM_RETURN_IF_ERROR(AddIndex(live, index, /*is_local=*/true, &table));
  }
  for (const auto& index : live.global_secondary_indexes()) {
    if (index.index_status() == v1::INDEX_STATUS_DELETING) continue;
    ARM_RETURN_IF_ERROR(AddIndex(live, index, /*is_local=*/false, &table));
  }
  AddSizes(live, &table, notes);
  return absl::OkStatus();
}

void CompleteWorkload(Workload* workload) {
  Table& table = workload->table;
  AttributeList identity = table.identity;
  if (table.key) identity = table.key->All();
  if (identity.size() != 1) return;
  Attribute& attribute = table.attributes[identity.front()];
  if (!attribute.distinct) attribute.distinct = table.items.value_or(kItemsUnknown);
}

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
