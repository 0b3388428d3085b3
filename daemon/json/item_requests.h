#ifndef ARMATURE_DAEMON_JSON_ITEM_REQUESTS_H_
#define ARMATURE_DAEMON_JSON_ITEM_REQUESTS_H_

// Requests on items, single and in batches and transactions, from the document to the engine's request.
//
// Errors: SerializationException with the documented texts. The engine makes all other checks.
// Cost: items, keys and values are written once, in the engine's form.

#include <string>

#include "absl/status/statusor.h"
#include "engine/items/request.h"

namespace armature::daemon {

absl::StatusOr<engine::GetItemRequest> ParseGetItem(const std::string& json);
absl::StatusOr<engine::WriteRequest> ParsePutItem(const std::string& json);
absl::StatusOr<engine::WriteRequest> ParseUpdateItem(const std::string& json);
absl::StatusOr<engine::WriteRequest> ParseDeleteItem(const std::string& json);
absl::StatusOr<engine::ReadRequest> ParseQuery(const std::string& json);
absl::StatusOr<engine::ReadRequest> ParseScan(const std::string& json);
absl::StatusOr<engine::BatchGetRequest> ParseBatchGetItem(const std::string& json);
absl::StatusOr<engine::BatchWriteRequest> ParseBatchWriteItem(const std::string& json);
absl::StatusOr<engine::TransactGetRequest> ParseTransactGetItems(const std::string& json);
absl::StatusOr<engine::TransactWriteRequest> ParseTransactWriteItems(const std::string& json);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_ITEM_REQUESTS_H_
