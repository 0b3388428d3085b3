#ifndef ARMATURE_DAEMON_API_ITEM_MESSAGES_H_
#define ARMATURE_DAEMON_API_ITEM_MESSAGES_H_

// Item requests and answers between the wire and the engine.

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "armature/api/v1/items.pb.h"
#include "engine/items/request.h"

namespace armature::daemon {

// Parse a request from its bytes. Errors: SerializationException.
absl::StatusOr<engine::GetItemRequest> ParseGetItem(std::string_view bytes);
absl::StatusOr<engine::WriteRequest> ParsePutItem(std::string_view bytes);
absl::StatusOr<engine::WriteRequest> ParseUpdateItem(std::string_view bytes);
absl::StatusOr<engine::WriteRequest> ParseDeleteItem(std::string_view bytes);
absl::StatusOr<engine::ReadRequest> ParseQuery(std::string_view bytes);
absl::StatusOr<engine::ReadRequest> ParseScan(std::string_view bytes);

// Fields of an answer after its items: a valid encoding to append to them.
std::string SerializeRest(const engine::GetItemResult& result);
std::string SerializeRest(const engine::WriteResult& result);
std::string SerializeRest(const engine::ReadResult& result);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_ITEM_MESSAGES_H_
