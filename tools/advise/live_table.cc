#include "tools/advise/live_table.h"

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "armature/api/v1/types.pb.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/advise/arithmetic.h"

namespace armature::advise {
namespace {

namespace v1 = ::armature::api::v1;

absl::Status Contradiction(std::string_view message) { return absl::InvalidArgumentError(Av(message)); }

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
  return Contradiction(Cat("table.attributes.", name, ".type: the live table has another type for this key attribute"));
}

template <class KeySchema>
absl::StatusOr<Key> KeyOf(const v1::TableDescription& live, const KeySchema& schema, Table* table) {
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

}  // namespace

absl::Status AddLiveTable(const v1::TableDescription& live, Workload* workload, std::vector<std::string>* notes) {
  Table& table = workload->table;
  if (table.name.empty()) table.name = live.table_name();
  table.created = true;
  ARM_ASSIGN_OR_RETURN(Key key, KeyOf(live, live.key_schema(), &table));
  if (table.key && *table.key != key) {
    return Contradiction(
        Cat("table.key: the live table ", live.table_name(), " has the key ", NamesOf(table, key.All())));
  }
  table.key = std::move(key);
  table.identity.clear();
  if (!table.indexes.empty()) return Contradiction("table.indexes: the live table tells its indexes; leave them out");
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

}  // namespace armature::advise
