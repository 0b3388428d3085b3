#ifndef ARMATURE_DAEMON_API_GROUP_MESSAGES_H_
#define ARMATURE_DAEMON_API_GROUP_MESSAGES_H_

// Requests and answers of batches and transactions between the wire and the engine.

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/items/request.h"

namespace armature::daemon {

// Parse a request from its bytes. Errors: SerializationException.
absl::StatusOr<engine::BatchGetRequest> ParseBatchGetItem(std::string_view bytes);
absl::StatusOr<engine::BatchWriteRequest> ParseBatchWriteItem(std::string_view bytes);
absl::StatusOr<engine::TransactGetRequest> ParseTransactGetItems(std::string_view bytes);
absl::StatusOr<engine::TransactWriteRequest> ParseTransactWriteItems(std::string_view bytes);

// The complete answers.
std::string Serialize(const engine::BatchGetResult& result);
std::string Serialize(const engine::BatchWriteResult& result);
std::string Serialize(const engine::TransactGetResult& result);
std::string Serialize(const engine::TransactWriteResult& result);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_GROUP_MESSAGES_H_
