#include "tools/advise/workload.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/advise/arithmetic.h"

namespace armature::advise {
namespace {

// Assumed number of items of a table without a given number.
constexpr double kItemsUnknown = 1e9;

absl::Status Wrong(std::string_view message) { return absl::InvalidArgumentError(Av(message)); }

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

absl::StatusOr<AttributeId> LiveAttribute(const LiveTable::KeyAttribute& live, Table* table) {
  if (const std::optional<AttributeId> known = FindAttribute(*table, live.name)) {
    if (table->attributes[*known].type != live.type) {
      return Wrong(
          Cat("table.attributes.", live.name, ".type: the live table has another type for this key attribute"));
    }
    return *known;
  }
  Attribute attribute;
  attribute.name = live.name;
  attribute.type = live.type;
  attribute.value_bytes = DefaultValueBytes(live.type);
  table->attributes.push_back(std::move(attribute));
  return table->attributes.size() - 1;
}

absl::StatusOr<Key> LiveKey(const std::vector<LiveTable::KeyAttribute>& partition,
                            const std::vector<LiveTable::KeyAttribute>& sort, Table* table) {
  Key key;
  for (const LiveTable::KeyAttribute& attribute : partition) {
    ARM_ASSIGN_OR_RETURN(const AttributeId id, LiveAttribute(attribute, table));
    key.partition.push_back(id);
  }
  for (const LiveTable::KeyAttribute& attribute : sort) {
    ARM_ASSIGN_OR_RETURN(const AttributeId id, LiveAttribute(attribute, table));
    key.sort.push_back(id);
  }
  return key;
}

absl::StatusOr<ExistingIndex> LiveIndex(const LiveTable::Index& live, Table* table) {
  ExistingIndex index;
  index.name = live.name;
  index.local = live.local;
  ARM_ASSIGN_OR_RETURN(index.key, LiveKey(live.partition, live.sort, table));
  index.projection.kind = live.projection;
  for (const std::string& name : live.non_key) {
    std::optional<AttributeId> id = FindAttribute(*table, name);
    if (!id) {  // no pattern uses it, but it adds to the size of the index
      Attribute attribute;
      attribute.name = name;
      attribute.type = AttributeType::kOther;
      attribute.value_bytes = DefaultValueBytes(AttributeType::kOther);
      table->attributes.push_back(std::move(attribute));
      id = table->attributes.size() - 1;
    }
    index.projection.non_key.push_back(*id);
  }
  return index;
}

void AddLiveSizes(const LiveTable& live, Table* table, std::vector<std::string>* notes) {
  if (live.items <= 0) {
    notes->push_back(Cat("The live table ", live.name, " is empty, or does not know its number of items yet: ",
                         table->items ? "the number in the file is used."
                                      : "totals are not estimated; give table.items and table.item_bytes."));
    return;
  }
  if (!table->items) table->items = live.items;
  if (!table->item_bytes && live.bytes > 0) table->item_bytes = live.bytes / live.items;
}

}  // namespace

AttributeList Key::All() const {
  AttributeList all = partition;
  all.insert(all.end(), sort.begin(), sort.end());
  return all;
}

std::optional<AttributeId> FindAttribute(const Table& table, std::string_view name) {
  const auto found = std::find_if(table.attributes.begin(), table.attributes.end(),
                                  [name](const Attribute& attribute) { return attribute.name == name; });
  if (found == table.attributes.end()) return std::nullopt;
  return static_cast<AttributeId>(found - table.attributes.begin());
}

bool Contains(const AttributeList& list, AttributeId id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}

bool IsSubset(const AttributeList& part, const AttributeList& whole) {
  return std::all_of(part.begin(), part.end(), [&whole](AttributeId id) { return Contains(whole, id); });
}

void AddOnce(AttributeList* list, AttributeId id) {
  if (!Contains(*list, id)) list->push_back(id);
}

std::string NamesOf(const Table& table, const AttributeList& list) {
  std::string names;
  for (size_t i = 0; i < list.size(); ++i) {
    const bool last = i + 1 == list.size();
    names += Cat(i == 0 ? "" : last ? " and " : ", ", table.attributes[list[i]].name);
  }
  return names;
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

void CompleteWorkload(Workload* workload) {
  Table& table = workload->table;
  AttributeList identity = table.identity;
  if (table.key) identity = table.key->All();
  if (identity.size() != 1) return;
  Attribute& attribute = table.attributes[identity.front()];
  if (!attribute.distinct) attribute.distinct = table.items.value_or(kItemsUnknown);
}

absl::Status AddLiveTable(const LiveTable& live, Workload* workload, std::vector<std::string>* notes) {
  Table& table = workload->table;
  if (table.name.empty()) table.name = live.name;
  table.created = true;
  ARM_ASSIGN_OR_RETURN(Key key, LiveKey(live.partition, live.sort, &table));
  if (table.key && *table.key != key) {
    return Wrong(Cat("table.key: the live table ", live.name, " has the key ", NamesOf(table, key.All())));
  }
  table.key = std::move(key);
  table.identity.clear();
  if (!table.indexes.empty()) return Wrong("table.indexes: the live table tells its indexes; leave them out");
  for (const LiveTable::Index& index : live.indexes) {
    ARM_ASSIGN_OR_RETURN(ExistingIndex existing, LiveIndex(index, &table));
    table.indexes.push_back(std::move(existing));
  }
  AddLiveSizes(live, &table, notes);
  return absl::OkStatus();
}

}  // namespace armature::advise
