#ifndef ARMATURE_DAEMON_API_ITEM_MESSAGES_H_
#define ARMATURE_DAEMON_API_ITEM_MESSAGES_H_

// Requests and answers of operations on items, single or in batches and transactions, between the wire and the engine;
// envelopes of these operations in a Pipeline stream.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/items/request.h"

namespace armature::daemon {

// Parse a request from its bytes. Errors: SerializationException.
absl::StatusOr<engine::GetItemRequest> ParseGetItem(std::string_view bytes);
absl::StatusOr<engine::WriteRequest> ParsePutItem(std::string_view bytes);
absl::StatusOr<engine::WriteRequest> ParseUpdateItem(std::string_view bytes);
absl::StatusOr<engine::WriteRequest> ParseDeleteItem(std::string_view bytes);
absl::StatusOr<engine::ReadRequest> ParseQuery(std::string_view bytes);
absl::StatusOr<engine::ReadRequest> ParseScan(std::string_view bytes);
absl::StatusOr<engine::BatchGetRequest> ParseBatchGetItem(std::string_view bytes);
absl::StatusOr<engine::BatchWriteRequest> ParseBatchWriteItem(std::string_view bytes);
absl::StatusOr<engine::TransactGetRequest> ParseTransactGetItems(std::string_view bytes);
absl::StatusOr<engine::TransactWriteRequest> ParseTransactWriteItems(std::string_view bytes);

// Fields of an answer after its items: a valid encoding to append to them.
std::string SerializeRest(const engine::GetItemResult& result);
std::string SerializeRest(const engine::WriteResult& result);
std::string SerializeRest(const engine::ReadResult& result);

// The complete answers.
std::string Serialize(const engine::BatchGetResult& result);
std::string Serialize(const engine::BatchWriteResult& result);
std::string Serialize(const engine::TransactGetResult& result);
std::string Serialize(const engine::TransactWriteResult& result);

// The content of an armature.api.v1.PipelineRequest. The views point into the message, or into `joined`.
struct PipelineOperation {
  uint64_t id = 0;
  uint32_t number = 0;       // field number of the operation; 0: none
  std::string_view request;  // the operation's encoded message
  std::string joined;        // holds `request` if protobuf delivered it in several pieces
};

// Field numbers of operations, and of their responses in answers.
inline constexpr uint32_t kPipelineNumberFirst = 2;   // get_item
inline constexpr uint32_t kPipelineNumberLast = 11;   // transact_write_items
inline constexpr uint32_t kPipelineErrorNumber = 15;  // error, a RpcStatus

// Reads the envelope; unknown fields are ignored. `*operation` has the id, if it could be read, even after an error.
// Errors: SerializationException.
absl::Status ParsePipelineRequest(std::string_view message, PipelineOperation* operation);

// The beginning of an armature.api.v1.PipelineResponse. The `result_bytes` bytes of field `number` follow.
std::string PipelineResponseHead(uint64_t id, uint32_t number, size_t result_bytes);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_ITEM_MESSAGES_H_
