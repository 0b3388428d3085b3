#include "daemon/json/table_requests.h"

#include <string_view>
#include <utility>

#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"

namespace armature::daemon {
namespace {

// A structure of two amounts, called `read_name` and `write_name`.
absl::Status ReadThroughput(JsonValue value, std::string_view shape, std::string_view read_name,
                            std::string_view write_name, std::optional<model::Throughput>* to) {
  model::Throughput& amounts = to->emplace(model::Throughput{model::kThroughputNotGiven, model::kThroughputNotGiven});
  return ReadStructure(value, shape, [&](std::string_view name, JsonValue member) {
    if (name == read_name) return ReadLong(member, &amounts.read_units);
    if (name == write_name) return ReadLong(member, &amounts.write_units);
    return absl::OkStatus();
  });
}

absl::Status ReadProjection(JsonValue value, model::ProjectionDefinition* to) {
  *to = {};
  return ReadStructure(value, "Projection", [to](std::string_view name, JsonValue member) {
    if (name == "ProjectionType") return ReadString(member, &to->projection_type);
    if (name == "NonKeyAttributes") return ReadStringList(member, &to->non_key_attributes);
    return absl::OkStatus();
  });
}

absl::Status ReadStream(JsonValue value, model::StreamDefinition* to) {
  return ReadStructure(value, "StreamSpecification", [to](std::string_view name, JsonValue member) {
    if (name == "StreamEnabled") return ReadBoolean(member, &to->enabled);
    if (name == "StreamViewType") return ReadString(member, &to->view_type);
    return absl::OkStatus();
  });
}

absl::Status ReadEncryption(JsonValue value, model::SseDefinition* to) {
  return ReadStructure(value, "SSESpecification", [to](std::string_view name, JsonValue member) {
    if (name == "Enabled") return ReadBoolean(member, &to->enabled);
    if (name == "SSEType") return ReadString(member, &to->type);
    if (name == "KMSMasterKeyId") return ReadString(member, &to->kms_key);
    return absl::OkStatus();
  });
}

absl::Status ReadTableKeySchema(JsonValue value, model::TableDefinition* to) {
  ARM_RETURN_IF_ERROR(ReadKeySchema(value, &to->key_schema));
  to->empty_key_schema_given = to->key_schema.empty();
  return absl::OkStatus();
}

absl::Status ReadTableDefinition(std::string_view name, JsonValue value, model::TableDefinition* to) {
  if (name == "TableName") return ReadString(value, &to->table_name);
  if (name == "AttributeDefinitions") return ReadAttributeDefinitions(value, &to->attribute_definitions);
  if (name == "KeySchema") return ReadTableKeySchema(value, to);
  if (name == "LocalSecondaryIndexes") return ReadIndexes(value, "LocalSecondaryIndex", &to->local_indexes);
  if (name == "GlobalSecondaryIndexes") return ReadIndexes(value, "GlobalSecondaryIndex", &to->global_indexes);
  if (name == "Tags") return ReadTags(value, &to->tags);
  return ReadSettings(name, value, to);
}

}  // namespace

absl::Status ReadSettings(std::string_view name, JsonValue value, model::SettingsDefinition* to) {
  if (name == "BillingMode") return ReadString(value, &to->billing_mode);
  if (name == "StreamSpecification") return ReadStream(value, &to->stream.emplace());
  if (name == "SSESpecification") return ReadEncryption(value, &to->sse.emplace());
  if (name == "TableClass") return ReadString(value, &to->table_class);
  if (name == "DeletionProtectionEnabled") return ReadBoolean(value, &to->deletion_protection);
  return ReadThroughputs(name, value, to);
}

absl::Status ReadThroughputs(std::string_view name, JsonValue value, model::ThroughputSettings* to) {
  if (name == "ProvisionedThroughput") return ReadProvisionedThroughput(value, &to->provisioned);
  if (name == "OnDemandThroughput") return ReadOnDemandThroughput(value, &to->on_demand_max);
  if (name == "WarmThroughput") return ReadWarmThroughput(value, &to->warm);
  return absl::OkStatus();
}

absl::Status ReadRequest(const std::string& json, std::string_view shape, MemberReader read) {
  ARM_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(json));
  return ReadStructure(document.root(), shape, read);
}

absl::StatusOr<TableNameRequest> ParseTableName(const std::string& json) {
  TableNameRequest request;
  ARM_RETURN_IF_ERROR(ReadRequest(json, "TableNameInput", [&](std::string_view name, JsonValue value) {
    return name == "TableName" ? ReadString(value, &request.table_name) : absl::OkStatus();
  }));
  return request;
}

absl::StatusOr<ListTablesRequest> ParseListTables(const std::string& json) {
  ListTablesRequest request;
  ARM_RETURN_IF_ERROR(ReadRequest(json, "ListTablesInput", [&](std::string_view name, JsonValue value) {
    if (name == "ExclusiveStartTableName") return ReadString(value, &request.start_after);
    if (name == "Limit") return ReadInteger(value, &request.limit);
    return absl::OkStatus();
  }));
  return request;
}

absl::StatusOr<model::TableDefinition> ParseCreateTable(const std::string& json) {
  model::TableDefinition definition;
  std::string_view not_available;
  ARM_RETURN_IF_ERROR(ReadRequest(json, "CreateTableInput", [&](std::string_view name, JsonValue value) {
    for (const std::string_view member : {"ResourcePolicy", "GlobalTableSourceArn", "VectorIndexes"}) {
      if (name == member) not_available = member;
    }
    return ReadTableDefinition(name, value, &definition);
  }));
  if (!not_available.empty()) return UnknownOperationError(Cat(not_available, " is not available in this version"));
  return definition;
}

absl::Status ReadAttributeDefinitions(JsonValue value, std::vector<model::AttributeDefinition>* to) {
  to->clear();
  return ReadList(value, [to](JsonValue element) {
    model::AttributeDefinition& definition = to->emplace_back();
    return ReadStructure(element, "AttributeDefinition", [&definition](std::string_view name, JsonValue member) {
      if (name == "AttributeName") return ReadString(member, &definition.attribute_name);
      if (name == "AttributeType") return ReadString(member, &definition.attribute_type);
      return absl::OkStatus();
    });
  });
}

absl::Status ReadKeySchema(JsonValue value, std::vector<model::KeyElementDefinition>* to) {
  to->clear();
  return ReadList(value, [to](JsonValue element) {
    model::KeyElementDefinition& definition = to->emplace_back();
    return ReadStructure(element, "KeySchemaElement", [&definition](std::string_view name, JsonValue member) {
      if (name == "AttributeName") return ReadString(member, &definition.attribute_name);
      if (name == "KeyType") return ReadString(member, &definition.key_type);
      return absl::OkStatus();
    });
  });
}

absl::Status ReadIndex(JsonValue value, std::string_view shape, model::IndexDefinition* to) {
  *to = {};
  return ReadStructure(value, shape, [to](std::string_view name, JsonValue member) {
    if (name == "IndexName") return ReadString(member, &to->index_name);
    if (name == "KeySchema") return ReadKeySchema(member, &to->key_schema);
    if (name == "Projection") return ReadProjection(member, &to->projection);
    return ReadThroughputs(name, member, to);
  });
}

absl::Status ReadIndexes(JsonValue value, std::string_view shape,
                         std::optional<std::vector<model::IndexDefinition>>* to) {
  to->emplace();
  return ReadList(value, [&](JsonValue element) { return ReadIndex(element, shape, &(*to)->emplace_back()); });
}

absl::Status ReadProvisionedThroughput(JsonValue value, std::optional<model::Throughput>* to) {
  return ReadThroughput(value, "ProvisionedThroughput", "ReadCapacityUnits", "WriteCapacityUnits", to);
}

absl::Status ReadOnDemandThroughput(JsonValue value, std::optional<model::Throughput>* to) {
  return ReadThroughput(value, "OnDemandThroughput", "MaxReadRequestUnits", "MaxWriteRequestUnits", to);
}

absl::Status ReadWarmThroughput(JsonValue value, std::optional<model::Throughput>* to) {
  return ReadThroughput(value, "WarmThroughput", "ReadUnitsPerSecond", "WriteUnitsPerSecond", to);
}

absl::Status ReadTags(JsonValue value, std::vector<std::pair<std::string, std::string>>* to) {
  to->clear();
  return ReadList(value, [to](JsonValue element) {
    auto& [key, text] = to->emplace_back();
    return ReadStructure(element, "Tag", [&key = key, &text = text](std::string_view name, JsonValue member) {
      if (name == "Key") return ReadString(member, &key);
      if (name == "Value") return ReadString(member, &text);
      return absl::OkStatus();
    });
  });
}

}  // namespace armature::daemon
