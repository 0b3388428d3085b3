#ifndef ARMATURE_DAEMON_JSON_GROUP_REQUESTS_H_
#define ARMATURE_DAEMON_JSON_GROUP_REQUESTS_H_

// Batches and transactions, from the document to the engine's request.
//
// Errors: SerializationException with the documented texts. The engine makes all other checks.

#include <string>

#include "absl/status/statusor.h"
#include "engine/items/request.h"

namespace armature::daemon {

absl::StatusOr<engine::BatchGetRequest> ParseBatchGetItem(const std::string& json);
absl::StatusOr<engine::BatchWriteRequest> ParseBatchWriteItem(const std::string& json);
absl::StatusOr<engine::TransactGetRequest> ParseTransactGetItems(const std::string& json);
absl::StatusOr<engine::TransactWriteRequest> ParseTransactWriteItems(const std::string& json);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_GROUP_REQUESTS_H_
