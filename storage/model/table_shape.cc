#include "storage/model/table_shape.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"
#include "storage/model/setting_rules.h"
#include "storage/model/table_name.h"

namespace armature::model {
namespace {

// In the order in which messages list them.
constexpr std::string_view kAttributeTypes[] = {"B", "N", "S"};
constexpr std::string_view kKeyTypes[] = {"HASH", "RANGE"};
constexpr std::string_view kProjectionTypes[] = {"ALL", "INCLUDE", "KEYS_ONLY"};

constexpr size_t kPairKeyElementsMax = 2;

// "keySchema", 0 -> "keySchema.1.member": paths in messages count from one.
std::string MemberPath(std::string_view list_path, size_t i) { return Cat(list_path, ".", i + 1, ".member"); }

std::string PrintedKeySchema(const std::vector<KeyElementDefinition>& elements) {
  std::vector<std::string> texts;
  texts.reserve(elements.size());
  for (const KeyElementDefinition& element : elements) {
    texts.push_back(
        Cat("KeySchemaElement(attributeName=", element.attribute_name, ", keyType=", element.key_type, ")"));
  }
  return PrintedValue(PrintedList(texts));
}

void CheckRequiredEnum(std::string_view value, const std::string& path, std::span<const std::string_view> allowed,
                       ConstraintList* faults) {
  if (value.empty()) {
    faults->AddNull(path);
  } else {
    faults->CheckEnum(value, path, allowed);
  }
}

// Names in keys and projections are limited in bytes, unlike other attribute names.
void CheckAttributeName(std::string_view name, const std::string& path, ConstraintList* faults) {
  const std::string printed = PrintedValue(name);
  faults->CheckLengthMin(printed, name.size(), path, 1);
  faults->CheckLengthMax(printed, name.size(), path, kKeyAttributeNameMaxBytes);
}

void CheckAttributeDefinitions(const std::vector<AttributeDefinition>& attributes, ConstraintList* faults) {
  constexpr std::string_view kPath = "attributeDefinitions";
  if (attributes.empty()) faults->AddNull(kPath);
  for (size_t i = 0; i < attributes.size(); ++i) {
    const std::string path = MemberPath(kPath, i);
    CheckAttributeName(attributes[i].attribute_name, Cat(path, ".attributeName"), faults);
    CheckRequiredEnum(attributes[i].attribute_type, Cat(path, ".attributeType"), kAttributeTypes, faults);
  }
}

void CheckKeyElements(const std::vector<KeyElementDefinition>& elements, std::string_view path,
                      ConstraintList* faults) {
  for (size_t i = 0; i < elements.size(); ++i) {
    const std::string member = MemberPath(path, i);
    CheckAttributeName(elements[i].attribute_name, Cat(member, ".attributeName"), faults);
    CheckRequiredEnum(elements[i].key_type, Cat(member, ".keyType"), kKeyTypes, faults);
  }
}

// Checks the key of a global index.
void CheckKeySchema(const std::vector<KeyElementDefinition>& elements, std::string_view path, ConstraintList* faults) {
  if (elements.empty()) faults->AddNull(path);
  CheckKeyElements(elements, path, faults);
}

// Checks the key of a local index.
void CheckPairKeySchema(const std::vector<KeyElementDefinition>& elements, std::string_view path,
                        ConstraintList* faults) {
  faults->CheckLengthMax(PrintedKeySchema(elements), elements.size(), path, kPairKeyElementsMax);
  CheckKeySchema(elements, path, faults);
}

void CheckTableKeySchema(const TableDefinition& definition, ConstraintList* faults) {
  constexpr std::string_view kPath = "keySchema";
  if (definition.key_schema.empty() && definition.empty_key_schema_given) {
    faults->CheckLengthMin(PrintedKeySchema({}), 0, kPath, 1);
  } else {
    CheckPairKeySchema(definition.key_schema, kPath, faults);
  }
}

void CheckProjection(const ProjectionDefinition& projection, const std::string& path, ConstraintList* faults) {
  if (!projection.projection_type.empty()) {
    faults->CheckEnum(projection.projection_type, Cat(path, ".projectionType"), kProjectionTypes);
  }
  if (!projection.non_key_attributes.has_value()) return;
  const std::vector<std::string>& names = *projection.non_key_attributes;
  const std::string names_path = Cat(path, ".nonKeyAttributes");
  const std::string printed = PrintedValue(PrintedList(names));
  faults->CheckLengthMin(printed, names.size(), names_path, 1);
  faults->CheckLengthMax(printed, names.size(), names_path, kNonKeyAttributesPerIndexMax);
  for (size_t i = 0; i < names.size(); ++i) {
    CheckAttributeName(names[i], MemberPath(names_path, i), faults);
  }
}

void CheckIndexShape(const IndexDefinition& index, IndexKind kind, const std::string& path, ConstraintList* faults) {
  const bool is_global = kind == IndexKind::kGlobal;
  const auto check_key = is_global ? CheckKeySchema : CheckPairKeySchema;
  faults->CheckName(index.index_name, Cat(path, ".indexName"), kTableNameMinChars);
  check_key(index.key_schema, Cat(path, ".keySchema"), faults);
  CheckProjection(index.projection, Cat(path, ".projection"), faults);
  if (is_global) CheckThroughputShape(index.provisioned, Cat(path, ".provisionedThroughput"), faults);
}

void CheckIndexUpdate(const GlobalIndexUpdate& entry, const std::string& path, ConstraintList* faults) {
  if (entry.update.has_value()) {
    const std::string update_path = Cat(path, ".update");
    faults->CheckName(entry.update->index_name, Cat(update_path, ".indexName"), kTableNameMinChars);
    CheckThroughputShape(entry.update->provisioned, Cat(update_path, ".provisionedThroughput"), faults);
  }
  if (entry.create.has_value()) CheckIndexShape(*entry.create, IndexKind::kGlobal, Cat(path, ".create"), faults);
  if (entry.remove.has_value()) faults->CheckName(*entry.remove, Cat(path, ".delete.indexName"), kTableNameMinChars);
}

}  // namespace

void CheckIndexShapes(const std::optional<std::vector<IndexDefinition>>& indexes, IndexKind kind,
                      std::string_view list_path, ConstraintList* faults) {
  if (!indexes.has_value()) return;
  for (size_t i = 0; i < indexes->size(); ++i) {
    CheckIndexShape((*indexes)[i], kind, MemberPath(list_path, i), faults);
  }
}

absl::Status CheckTableShape(const TableDefinition& definition) {
  ConstraintList faults;
  faults.CheckName(definition.table_name, "tableName", kTableNameMinChars);
  CheckAttributeDefinitions(definition.attribute_definitions, &faults);
  CheckTableKeySchema(definition, &faults);
  CheckBillingModeShape(definition.billing_mode, "billingMode", &faults);
  CheckThroughputShape(definition.provisioned, "provisionedThroughput", &faults);
  // Global indexes are checked first, although the request lists local indexes first.
  CheckIndexShapes(definition.global_indexes, IndexKind::kGlobal, "globalSecondaryIndexes", &faults);
  CheckIndexShapes(definition.local_indexes, IndexKind::kLocal, "localSecondaryIndexes", &faults);
  CheckStreamShape(definition.stream, SettingUse::kCreation, &faults);
  CheckSseShape(definition.sse, "sSESpecification", &faults);
  CheckTagValueGiven(definition.tag_without_value, &faults);
  return faults.ToStatus();
}

absl::Status CheckTableUpdateShape(const TableUpdate& update) {
  ConstraintList faults;
  CheckTableReferenceShape(update.table_name, &faults);
  if (!update.attribute_definitions.empty()) CheckAttributeDefinitions(update.attribute_definitions, &faults);
  CheckBillingModeShape(update.billing_mode, "billingMode", &faults);
  CheckThroughputShape(update.provisioned, "provisionedThroughput", &faults);
  if (update.global_index_updates.has_value()) {
    for (size_t i = 0; i < update.global_index_updates->size(); ++i) {
      CheckIndexUpdate((*update.global_index_updates)[i], MemberPath("globalSecondaryIndexUpdates", i), &faults);
    }
  }
  CheckStreamShape(update.stream, SettingUse::kChange, &faults);
  CheckSseShape(update.sse, "sSESpecification", &faults);
  ARM_RETURN_IF_ERROR(faults.ToStatus());
  return CheckTableReference(*update.table_name);
}

}  // namespace armature::model
