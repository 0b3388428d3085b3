#include "storage/model/table_definition.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"
#include "storage/model/setting_rules.h"
#include "storage/model/table_settings.h"
#include "storage/model/table_shape.h"

namespace armature::model {
namespace {

constexpr std::string_view kHash = "HASH";
constexpr std::string_view kFirstIsNotHash = "Invalid KeySchema: The first KeySchemaElement is not a HASH key type";
constexpr std::string_view kSameName =
    "Both the Hash Key and the Range Key element in the KeySchema have the same name";

using NameSet = std::set<std::string_view>;  // sorted, as messages list them

NameSet NamesOf(const std::vector<KeyElementDefinition>& elements) {
  NameSet names;
  for (const KeyElementDefinition& element : elements) names.insert(element.attribute_name);
  return names;
}

NameSet NamesOf(const std::vector<KeyAttribute>& attributes) {
  NameSet names;
  for (const KeyAttribute& attribute : attributes) names.insert(attribute.name);
  return names;
}

bool IsHash(const KeyElementDefinition& element) { return element.key_type == kHash; }

ScalarType TypeFromName(std::string_view name) {
  if (name == ScalarTypeName(ScalarType::kNumber)) return ScalarType::kNumber;
  if (name == ScalarTypeName(ScalarType::kBinary)) return ScalarType::kBinary;
  return ScalarType::kString;
}

absl::Status CheckKeyIsDefined(const std::vector<KeyElementDefinition>& elements, const NameSet& defined) {
  const NameSet keys = NamesOf(elements);
  if (std::includes(defined.begin(), defined.end(), keys.begin(), keys.end())) {
    return absl::OkStatus();
  }
  return InvalidParameterError(Cat("Some index key attributes are not defined in AttributeDefinitions. Keys: ",
                                   PrintedList(keys), ", AttributeDefinitions: ", PrintedList(defined)));
}

// Checks the key of a table or a local index: one HASH, then at most one RANGE.
absl::Status CheckPairKey(const std::vector<KeyElementDefinition>& elements) {
  if (NamesOf(elements).size() < elements.size()) return ValidationError(kSameName);
  if (!IsHash(elements[0])) return ValidationError(kFirstIsNotHash);
  if (elements.size() == 2 && IsHash(elements[1])) {
    return ValidationError("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
  }
  return absl::OkStatus();
}

// Checks the key of a table: all its attributes are defined, and the rules of CheckPairKey hold.
absl::Status CheckTableKey(const std::vector<KeyElementDefinition>& elements,
                           const std::vector<KeyAttribute>& defined) {
  if (elements.size() > defined.size()) {
    return ValidationError("Invalid KeySchema: Some index key attribute have no definition");
  }
  ARM_RETURN_IF_ERROR(CheckKeyIsDefined(elements, NamesOf(defined)));
  return CheckPairKey(elements);
}

// Checks that exactly the attributes used in the keys of the table and its indexes are defined.
absl::Status CheckUseOfAttributes(const TableDefinition& definition, const std::vector<KeyAttribute>& defined) {
  const NameSet defined_names = NamesOf(defined);
  NameSet used = NamesOf(definition.key_schema);
  bool has_indexes = false;
  for (const auto* indexes : {&definition.local_indexes, &definition.global_indexes}) {
    if (!indexes->has_value()) continue;
    for (const IndexDefinition& index : **indexes) {
      ARM_RETURN_IF_ERROR(CheckKeyIsDefined(index.key_schema, defined_names));
      used.merge(NamesOf(index.key_schema));
      has_indexes = true;
    }
  }
  if (used.size() == defined_names.size()) return absl::OkStatus();
  if (!has_indexes) {
    return InvalidParameterError(
        "Number of attributes in KeySchema does not exactly match number of attributes defined in "
        "AttributeDefinitions");
  }
  return InvalidParameterError(Cat("Some AttributeDefinitions are not used. AttributeDefinitions: ",
                                   PrintedList(defined_names), ", keys used: ", PrintedList(used)));
}

// Builds the typed schema of elements that have passed the checks of keys. `defined` is sorted by name.
KeySchema BuildKeySchema(const std::vector<KeyElementDefinition>& elements, const std::vector<KeyAttribute>& defined) {
  KeySchema key;
  for (const KeyElementDefinition& element : elements) {
    const auto attribute =
        std::lower_bound(defined.begin(), defined.end(), element.attribute_name,
                         [](const KeyAttribute& a, const std::string& name) { return a.name < name; });
    (IsHash(element) ? key.partition : key.sort).push_back(*attribute);
  }
  return key;
}

absl::StatusOr<Projection> BuildProjection(const ProjectionDefinition& definition) {
  const std::string& type = definition.projection_type;
  if (type.empty()) return InvalidParameterError("Unknown ProjectionType: null");
  const bool has_names = definition.non_key_attributes.has_value();
  if (type != ProjectionTypeName(ProjectionType::kInclude)) {
    if (has_names) {
      return InvalidParameterError(Cat("ProjectionType is ", type, ", but NonKeyAttributes is specified"));
    }
    const bool is_all = type == ProjectionTypeName(ProjectionType::kAll);
    return Projection{is_all ? ProjectionType::kAll : ProjectionType::kKeysOnly, {}};
  }
  if (!has_names) {
    return InvalidParameterError("ProjectionType is INCLUDE, but NonKeyAttributes is not specified");
  }
  std::set<std::string_view> seen;
  for (const std::string& name : *definition.non_key_attributes) {
    if (!seen.insert(name).second) {
      return InvalidParameterError(Cat("Duplicate element in NonKeyAttributes: ", name));
    }
  }
  return Projection{ProjectionType::kInclude, *definition.non_key_attributes};
}

absl::Status CheckLocalIndexKey(const IndexDefinition& index, const KeySchema& table_key) {
  ARM_RETURN_IF_ERROR(CheckPairKey(index.key_schema));
  if (index.key_schema.size() < 2) {
    return InvalidParameterError(Cat("Index KeySchema does not have a range key for index: ", index.index_name));
  }
  const std::string& index_hash = index.key_schema[0].attribute_name;
  const std::string& table_hash = table_key.partition[0].name;
  if (index_hash != table_hash) {
    return InvalidParameterError(
        Cat("Index KeySchema does not have the same leading hash key as table KeySchema for index: ", index.index_name,
            ". index hash key: ", index_hash, ", table hash key: ", table_hash));
  }
  return absl::OkStatus();
}

// The part common to both kinds of indexes. The key has been checked.
absl::StatusOr<IndexDescriptor> BuildIndex(const IndexDefinition& definition, IndexKind kind,
                                           const TableDescriptor& table) {
  if (table.FindIndex(definition.index_name) != nullptr) {
    return InvalidParameterError(Cat("Duplicate index name: ", definition.index_name));
  }
  IndexDescriptor index;
  index.kind = kind;
  index.name = definition.index_name;
  index.key = BuildKeySchema(definition.key_schema, table.attribute_definitions);
  ARM_ASSIGN_OR_RETURN(index.projection, BuildProjection(definition.projection));
  return index;
}

absl::Status BuildLocalIndexes(const std::vector<IndexDefinition>& definitions, TableDescriptor* table) {
  if (definitions.empty()) return InvalidParameterError("List of LocalSecondaryIndexes is empty");
  if (table->key.sort.empty()) {
    return InvalidParameterError(
        "Table KeySchema does not have a range key, which is required when specifying a "
        "LocalSecondaryIndex");
  }
  for (const IndexDefinition& definition : definitions) {
    ARM_RETURN_IF_ERROR(CheckLocalIndexKey(definition, table->key));
    ARM_ASSIGN_OR_RETURN(IndexDescriptor index, BuildIndex(definition, IndexKind::kLocal, *table));
    table->local_indexes.push_back(std::move(index));
  }
  if (definitions.size() > kLocalIndexesMax) {
    return InvalidParameterError(Cat("Number of LocalSecondaryIndexes exceeds per-table limit of ", kLocalIndexesMax));
  }
  return absl::OkStatus();
}

absl::Status CheckIndexThroughput(const IndexDefinition& index, BillingMode billing_mode) {
  const ThroughputOwner owner = {.use = SettingUse::kCreation, .index_name = index.index_name};
  if (billing_mode == BillingMode::kProvisioned && !index.provisioned.has_value()) {
    return InvalidParameterError(Cat("ProvisionedThroughput is not specified for index: ", index.index_name));
  }
  ARM_RETURN_IF_ERROR(CheckAgainstBilling(index, owner, billing_mode));
  ARM_RETURN_IF_ERROR(CheckAmounts(index, owner));
  return CheckWarm(index.warm, owner, index.provisioned, std::nullopt);
}

absl::StatusOr<IndexDescriptor> BuildGlobalIndex(const IndexDefinition& definition, const TableDescriptor& table) {
  ARM_ASSIGN_OR_RETURN(IndexDescriptor index, BuildIndex(definition, IndexKind::kGlobal, table));
  ARM_RETURN_IF_ERROR(CheckIndexThroughput(definition, table.settings.billing_mode));
  index.throughput() = WithDefaults(definition);
  return index;
}

absl::Status BuildGlobalIndexes(const std::vector<IndexDefinition>& definitions, TableDescriptor* table) {
  if (definitions.empty()) return InvalidParameterError("List of GlobalSecondaryIndexes is empty");
  for (const IndexDefinition& definition : definitions) {
    ARM_RETURN_IF_ERROR(CheckGlobalIndexKey(definition.key_schema));
    ARM_ASSIGN_OR_RETURN(IndexDescriptor index, BuildGlobalIndex(definition, *table));
    table->global_indexes.push_back(std::move(index));
  }
  if (definitions.size() > kGlobalIndexesMax) {
    return InvalidParameterError(Cat("GlobalSecondaryIndex count exceeds the per-table limit of ", kGlobalIndexesMax));
  }
  return absl::OkStatus();
}

// A name projected by two indexes counts twice.
absl::Status CheckProjectedNamesCount(const TableDescriptor& table, size_t added = 0) {
  size_t count = added;
  for (const IndexDescriptor* const index : table.indexes()) count += index->projection.non_key_attributes.size();
  if (count <= kNonKeyAttributesPerTableMax) return absl::OkStatus();
  return InvalidParameterError(
      Cat("Number of NonKeyAttributes over all indexes exceeds per-table ", "limit of ", kNonKeyAttributesPerTableMax));
}

// Checks the indexes of `definition`, local indexes first, and appends them to `table`, which has its key and attribute
// definitions already. `table` is unspecified after an error.
absl::Status BuildIndexes(const TableDefinition& definition, TableDescriptor* table) {
  if (definition.local_indexes.has_value()) {
    ARM_RETURN_IF_ERROR(BuildLocalIndexes(*definition.local_indexes, table));
  }
  if (definition.global_indexes.has_value()) {
    ARM_RETURN_IF_ERROR(BuildGlobalIndexes(*definition.global_indexes, table));
  }
  return CheckProjectedNamesCount(*table);
}

absl::Status CheckBilling(const TableDefinition& definition, BillingMode mode) {
  if (mode == BillingMode::kProvisioned && !definition.provisioned.has_value()) {
    return InvalidParameterError(
        "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
        "PROVISIONED");
  }
  const ThroughputOwner owner = {.use = SettingUse::kCreation};
  ARM_RETURN_IF_ERROR(CheckAgainstBilling(definition, owner, mode));
  return CheckAmounts(definition, owner);
}

// Checks the settings that do not concern the throughput of indexes, in the documented order.
absl::Status CheckSettings(const TableDefinition& definition) {
  ARM_RETURN_IF_ERROR(CheckWarm(definition.warm, {.use = SettingUse::kCreation}, definition.provisioned, std::nullopt));
  if (definition.stream.has_value()) ARM_RETURN_IF_ERROR(CheckStream(*definition.stream, SettingUse::kCreation));
  ARM_RETURN_IF_ERROR(CheckSse(definition.sse));
  ARM_RETURN_IF_ERROR(CheckTags(definition.tags));
  return CheckTableClass(definition.table_class);
}

}  // namespace

absl::StatusOr<std::vector<KeyAttribute>> BuildKeyAttributes(const std::vector<AttributeDefinition>& definitions) {
  std::vector<KeyAttribute> attributes;
  NameSet seen;
  for (const AttributeDefinition& definition : definitions) {
    if (!seen.insert(definition.attribute_name).second) {
      return ValidationError(Cat("Attribute Name is duplicated: ", definition.attribute_name));
    }
    attributes.push_back({definition.attribute_name, TypeFromName(definition.attribute_type)});
  }
  std::sort(attributes.begin(), attributes.end(),
            [](const KeyAttribute& a, const KeyAttribute& b) { return a.name < b.name; });
  return attributes;
}

absl::Status CheckGlobalIndexKey(const std::vector<KeyElementDefinition>& elements) {
  if (NamesOf(elements).size() < elements.size()) {
    const bool is_pair = elements.size() == 2 && IsHash(elements[0]) && !IsHash(elements[1]);
    return ValidationError(is_pair ? kSameName : "The KeySchema contains multiple key attributes with the same name");
  }
  if (!IsHash(elements[0])) return ValidationError(kFirstIsNotHash);
  const auto hash_count = static_cast<size_t>(std::count_if(elements.begin(), elements.end(), IsHash));
  if (hash_count > kGlobalKeyAttributesMax) {
    return InvalidParameterError("The KeySchema exceeds the maximum allowed number of HASH key attributes");
  }
  if (elements.size() - hash_count > kGlobalKeyAttributesMax) {
    return InvalidParameterError("The KeySchema exceeds the maximum allowed number of RANGE key attributes");
  }
  if (!std::is_partitioned(elements.begin(), elements.end(), IsHash)) {
    return InvalidParameterError("All HASH key attributes must precede RANGE key attributes in the KeySchema");
  }
  return absl::OkStatus();
}

absl::Status CheckProjection(const ProjectionDefinition& projection) { return BuildProjection(projection).status(); }

absl::StatusOr<IndexDescriptor> BuildAddedIndex(const IndexDefinition& definition, const TableDescriptor& table) {
  ARM_ASSIGN_OR_RETURN(IndexDescriptor index, BuildGlobalIndex(definition, table));
  ARM_RETURN_IF_ERROR(CheckProjectedNamesCount(table, index.projection.non_key_attributes.size()));
  return index;
}

absl::StatusOr<TableDescriptor> BuildTableDescriptor(const TableDefinition& definition) {
  if (!definition.has_table_name) {
    return ValidationError("The parameter 'TableName' is required but was not present in the request");
  }
  ARM_RETURN_IF_ERROR(CheckTableShape(definition));

  TableDescriptor table;
  table.name = definition.table_name;
  table.settings = BuildSettings(definition);
  ARM_RETURN_IF_ERROR(CheckBilling(definition, table.settings.billing_mode));
  table.settings.tags = definition.tags;
  ARM_ASSIGN_OR_RETURN(table.attribute_definitions, BuildKeyAttributes(definition.attribute_definitions));
  ARM_RETURN_IF_ERROR(CheckTableKey(definition.key_schema, table.attribute_definitions));
  ARM_RETURN_IF_ERROR(CheckUseOfAttributes(definition, table.attribute_definitions));
  table.key = BuildKeySchema(definition.key_schema, table.attribute_definitions);
  ARM_RETURN_IF_ERROR(BuildIndexes(definition, &table));
  ARM_RETURN_IF_ERROR(CheckSettings(definition));
  return table;
}

}  // namespace armature::model
