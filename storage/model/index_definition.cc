#include "storage/model/index_definition.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/key_definition.h"
#include "storage/model/limits.h"

namespace armature::model {
namespace {

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

absl::Status CheckIndexCapacity(const IndexDefinition& index, BillingMode billing_mode) {
  const bool is_provisioned = billing_mode == BillingMode::kProvisioned;
  if (is_provisioned && !index.provisioned.has_value()) {
    return InvalidParameterError(Cat("ProvisionedThroughput is not specified for index: ", index.index_name));
  }
  if (!is_provisioned && index.provisioned.has_value()) {
    return InvalidParameterError(Cat("ProvisionedThroughput should not be specified for index: ", index.index_name,
                                     " when BillingMode is PAY_PER_REQUEST"));
  }
  if (!is_provisioned) return absl::OkStatus();
  return CheckCapacityBounds(*index.provisioned, Cat(" for index ", index.index_name));
}

absl::StatusOr<IndexDescriptor> BuildGlobalIndex(const IndexDefinition& definition, const TableDescriptor& table) {
  ARM_ASSIGN_OR_RETURN(IndexDescriptor index, BuildIndex(definition, IndexKind::kGlobal, table));
  ARM_RETURN_IF_ERROR(CheckIndexCapacity(definition, table.settings.billing_mode));
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

}  // namespace

absl::Status BuildIndexes(const TableDefinition& definition, TableDescriptor* table) {
  if (definition.local_indexes.has_value()) {
    ARM_RETURN_IF_ERROR(BuildLocalIndexes(*definition.local_indexes, table));
  }
  if (definition.global_indexes.has_value()) {
    ARM_RETURN_IF_ERROR(BuildGlobalIndexes(*definition.global_indexes, table));
  }
  return CheckProjectedNamesCount(*table);
}

absl::Status CheckProjection(const ProjectionDefinition& projection) { return BuildProjection(projection).status(); }

absl::StatusOr<IndexDescriptor> BuildAddedIndex(const IndexDefinition& definition, const TableDescriptor& table) {
  ARM_ASSIGN_OR_RETURN(IndexDescriptor index, BuildGlobalIndex(definition, table));
  ARM_RETURN_IF_ERROR(CheckProjectedNamesCount(table, index.projection.non_key_attributes.size()));
  return index;
}

absl::Status CheckCapacityBounds(const Throughput& throughput, std::string_view suffix) {
  if (throughput.read_units > kCapacityUnitsMax) {
    return ValidationError(
        Cat("Given value ", throughput.read_units, " for ReadCapacityUnits is out of bounds", suffix));
  }
  if (throughput.write_units > kCapacityUnitsMax) {
    return ValidationError(
        Cat("Given value ", throughput.write_units, " for WriteCapacityUnits is out of bounds", suffix));
  }
  return absl::OkStatus();
}

}  // namespace armature::model
