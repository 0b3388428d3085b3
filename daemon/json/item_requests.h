#ifndef ARMATURE_DAEMON_JSON_ITEM_REQUESTS_H_
#define ARMATURE_DAEMON_JSON_ITEM_REQUESTS_H_

// Item requests, from the document to the engine's request.
//
// Errors: SerializationException with the documented texts. The engine makes all other checks.
// Cost: items, keys and values are written once, in the engine's form.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/json/json_reader.h"
#include "engine/items/request.h"

namespace armature::daemon {

absl::StatusOr<engine::GetItemRequest> ParseGetItem(const std::string& json);
absl::StatusOr<engine::WriteRequest> ParsePutItem(const std::string& json);
absl::StatusOr<engine::WriteRequest> ParseUpdateItem(const std::string& json);
absl::StatusOr<engine::WriteRequest> ParseDeleteItem(const std::string& json);
absl::StatusOr<engine::ReadRequest> ParseQuery(const std::string& json);
absl::StatusOr<engine::ReadRequest> ParseScan(const std::string& json);

// Legacy (pre-expression) maps, their entries in byte order of the attribute names. Each reader overwrites the content
// of `to`.
absl::Status ReadAttributeUpdates(JsonValue value, std::optional<std::vector<engine::LegacyUpdate>>* to);
absl::Status ReadExpected(JsonValue value, std::optional<std::vector<engine::LegacyExpectation>>* to);
// KeyConditions, QueryFilter, ScanFilter.
absl::Status ReadConditions(JsonValue value, std::optional<std::vector<engine::LegacyCondition>>* to);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_ITEM_REQUESTS_H_
