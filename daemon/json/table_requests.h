#ifndef ARMATURE_DAEMON_JSON_TABLE_REQUESTS_H_
#define ARMATURE_DAEMON_JSON_TABLE_REQUESTS_H_

// Requests about tables, and the structures that they are made of, from the document to the model.
//
// Errors: SerializationException with the documented texts. Everything else is the engine's to judge.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/json/json_reader.h"
#include "storage/model/table_definition.h"

namespace armature::daemon {

// DescribeTable, DeleteTable and others that have but a name.
struct TableNameRequest {
  std::optional<std::string> table_name;
};

struct ListTablesRequest {
  std::string table_name;  // none
  std::optional<std::string> start_after;
  std::optional<int64_t> limit;
};

absl::StatusOr<TableNameRequest> ParseTableName(const std::string& json);
absl::StatusOr<ListTablesRequest> ParseListTables(const std::string& json);
// Errors: also UnknownOperationException for what is documented and not available.
absl::StatusOr<model::TableDefinition> ParseCreateTable(const std::string& json);

// The document of a request called `shape`: `read` gets its members.
absl::Status ReadRequest(const std::string& json, std::string_view shape, MemberReader read);

// Parts of requests. Each overwrites what `to` held.
absl::Status ReadAttributeDefinitions(JsonValue value, std::vector<model::AttributeDefinition>* to);
absl::Status ReadKeySchema(JsonValue value, std::vector<model::KeyElementDefinition>* to);
// One structure LocalSecondaryIndex, GlobalSecondaryIndex or one of an update, `shape`; all have members of one set.
absl::Status ReadIndex(JsonValue value, std::string_view shape, model::IndexDefinition* to);
absl::Status ReadIndexes(JsonValue value, std::string_view shape,
                         std::optional<std::vector<model::IndexDefinition>>* to);
// Amounts that are absent become model::kThroughputNotGiven.
absl::Status ReadProvisionedThroughput(JsonValue value, std::optional<model::Throughput>* to);
absl::Status ReadOnDemandThroughput(JsonValue value, std::optional<model::Throughput>* to);
absl::Status ReadWarmThroughput(JsonValue value, std::optional<model::Throughput>* to);
// The member `name` of a request, if it is a setting.
absl::Status ReadSettings(std::string_view name, JsonValue value, model::SettingsDefinition* to);
absl::Status ReadThroughputs(std::string_view name, JsonValue value, model::ThroughputSettings* to);
absl::Status ReadTags(JsonValue value, std::vector<std::pair<std::string, std::string>>* to);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_TABLE_REQUESTS_H_
