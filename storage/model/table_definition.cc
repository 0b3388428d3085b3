#include "storage/model/table_definition.h"

#include <algorithm>
#include <set>
#include <utility>

#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/index_definition.h"
#include "storage/model/key_definition.h"
#include "storage/model/limits.h"
#include "storage/model/table_shape.h"
#include "storage/model/tags.h"

namespace armature::model {
namespace {

bool IsAsciiAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

absl::Status CheckBilling(const TableDefinition& definition) {
  const std::optional<Throughput>& throughput = definition.provisioned;
  if (definition.billing_mode == BillingModeName(BillingMode::kPayPerRequest)) {
    if (!throughput.has_value()) return absl::OkStatus();
    return InvalidParameterError(
        "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
        "PAY_PER_REQUEST");
  }
  if (!throughput.has_value()) {
    return InvalidParameterError(
        "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
        "PROVISIONED");
  }
  return CheckCapacityBounds(*throughput, "");
}

absl::Status CheckStream(const TableDefinition& definition) {
  if (!definition.stream.has_value() || !definition.stream->enabled.has_value()) return absl::OkStatus();
  const bool is_enabled = *definition.stream->enabled;
  const bool has_view_type = !definition.stream->view_type.empty();
  if (is_enabled && !has_view_type) {
    return InvalidParameterError("Table is being created with a stream enabled, UpdateViewType is required");
  }
  if (!is_enabled && has_view_type) {
    return InvalidParameterError(
        "Table is being created with a stream disabled, UpdateViewType should not be specified");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TableDescriptor> BuildTableDescriptor(const TableDefinition& definition) {
  if (definition.table_name.empty()) {
    return ValidationError("The parameter 'TableName' is required but was not present in the request");
  }
  ARM_RETURN_IF_ERROR(CheckTableShape(definition));
  ARM_RETURN_IF_ERROR(CheckBilling(definition));

  TableDescriptor table;
  table.name = definition.table_name;
  table.settings = BuildSettings(definition);
  table.settings.tags = definition.tags;
  ARM_ASSIGN_OR_RETURN(table.attribute_definitions, BuildKeyAttributes(definition.attribute_definitions));
  ARM_RETURN_IF_ERROR(CheckTableKey(definition.key_schema, table.attribute_definitions));
  ARM_RETURN_IF_ERROR(CheckUseOfAttributes(definition, table.attribute_definitions));
  table.key = BuildKeySchema(definition.key_schema, table.attribute_definitions);
  ARM_RETURN_IF_ERROR(BuildIndexes(definition, &table));

  ARM_RETURN_IF_ERROR(CheckStream(definition));
  ARM_RETURN_IF_ERROR(CheckTags(definition.tags));
  ARM_RETURN_IF_ERROR(CheckTableClass(definition.table_class));
  return table;
}

bool HasOnlyNameCharacters(std::string_view name) {
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return IsAsciiAlphanumeric(c) || c == '_' || c == '.' || c == '-'; });
}

}  // namespace armature::model
