#include "daemon/json/table_update_request.h"

#include <optional>
#include <string_view>
#include <vector>

#include "daemon/json/json_reader.h"
#include "daemon/json/table_requests.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kNotAvailable[] = {"ReplicaUpdates", "MultiRegionConsistency", "GlobalTableWitnessUpdates",
                                              "GlobalTableSettingsReplicationMode", "VectorIndexUpdates"};

absl::Status ReadIndexThroughput(JsonValue value, std::optional<model::IndexThroughputUpdate>* to) {
  model::IndexThroughputUpdate& update = to->emplace();
  return ReadStructure(value, "UpdateGlobalSecondaryIndexAction", [&](std::string_view name, JsonValue member) {
    if (name == "IndexName") return ReadString(member, &update.index_name);
    if (name == "ProvisionedThroughput") return ReadProvisionedThroughput(member, &update.provisioned);
    if (name == "OnDemandThroughput") {
      return ReadOnDemandThroughput(member, model::kThroughputNotGiven, &update.on_demand_max);
    }
    if (name == "WarmThroughput") return ReadWarmThroughput(member, model::kThroughputNotGiven, &update.warm);
    return absl::OkStatus();
  });
}

absl::Status ReadIndexUpdate(JsonValue value, model::GlobalIndexUpdate* to) {
  return ReadStructure(value, "GlobalSecondaryIndexUpdate", [to](std::string_view name, JsonValue member) {
    if (name == "Update") return ReadIndexThroughput(member, &to->update);
    if (name == "Create") return ReadIndex(member, "CreateGlobalSecondaryIndexAction", &to->create.emplace());
    if (name != "Delete") return absl::OkStatus();
    std::string& removed = to->remove.emplace();
    return ReadStructure(member, "DeleteGlobalSecondaryIndexAction",
                         [&removed](std::string_view inner_name, JsonValue inner) {
                           return inner_name == "IndexName" ? ReadString(inner, &removed) : absl::OkStatus();
                         });
  });
}

absl::Status ReadIndexUpdates(JsonValue value, std::optional<std::vector<model::GlobalIndexUpdate>>* to) {
  to->emplace();
  return ReadList(value, [to](JsonValue element) { return ReadIndexUpdate(element, &(*to)->emplace_back()); });
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

absl::Status ReadMember(std::string_view name, JsonValue value, model::TableUpdate* to) {
  if (name == "TableName") return ReadString(value, &to->table_name);
  if (name == "AttributeDefinitions") return ReadAttributeDefinitions(value, &to->attribute_definitions);
  if (name == "BillingMode") return ReadString(value, &to->billing_mode);
  if (name == "ProvisionedThroughput") return ReadProvisionedThroughput(value, &to->provisioned);
  if (name == "GlobalSecondaryIndexUpdates") return ReadIndexUpdates(value, &to->global_index_updates);
  if (name == "StreamSpecification") return ReadStream(value, &to->stream.emplace());
  if (name == "SSESpecification") return ReadEncryption(value, &to->sse.emplace());
  if (name == "TableClass") return ReadString(value, &to->table_class);
  if (name == "DeletionProtectionEnabled") return ReadBoolean(value, &to->deletion_protection);
  if (name == "OnDemandThroughput") {
    return ReadOnDemandThroughput(value, model::kThroughputNotGiven, &to->on_demand_max);
  }
  if (name == "WarmThroughput") return ReadWarmThroughput(value, model::kThroughputNotGiven, &to->warm);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<model::TableUpdate> ParseUpdateTable(const std::string& json) {
  model::TableUpdate update;
  std::string_view not_available;
  ARM_RETURN_IF_ERROR(ReadRequest(json, "UpdateTableInput", [&](std::string_view name, JsonValue value) {
    for (const std::string_view member : kNotAvailable) {
      if (name == member) not_available = member;
    }
    return ReadMember(name, value, &update);
  }));
  if (!not_available.empty()) return UnknownOperationError(Cat(not_available, " is not available in this version"));
  return update;
}

}  // namespace armature::daemon
