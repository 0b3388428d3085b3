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
    return name == "IndexName" ? ReadString(member, &update.index_name) : ReadThroughputs(name, member, &update);
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

absl::Status ReadMember(std::string_view name, JsonValue value, model::TableUpdate* to) {
  if (name == "TableName") return ReadString(value, &to->table_name);
  if (name == "AttributeDefinitions") return ReadAttributeDefinitions(value, &to->attribute_definitions);
  if (name == "GlobalSecondaryIndexUpdates") return ReadIndexUpdates(value, &to->global_index_updates);
  return ReadSettings(name, value, to);
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
