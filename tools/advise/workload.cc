#include "tools/advise/workload.h"

#include <algorithm>

#include "storage/base/strings.h"

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

}  // namespace armature::advise
