#ifndef ARMATURE_DAEMON_API_MESSAGE_PARTS_H_
#define ARMATURE_DAEMON_API_MESSAGE_PARTS_H_

// Parts shared by item requests and answers, single or in batches and transactions.

#include <cstdint>
#include <optional>
#include <string>

#include "armature/api/v1/items.pb.h"
#include "daemon/message_json/message_names.h"
#include "engine/capacity.h"
#include "engine/items/request.h"

namespace armature::daemon {

// Field number of the item, the key or the start key in all requests with one (proto/armature/api/v1/items.proto).
inline constexpr uint32_t kItemField = 2;

// Field numbers of map entries.
inline constexpr uint32_t kMapKeyField = 1;
inline constexpr uint32_t kMapValueField = 2;

// An enum as the text that the engine takes and errors repeat; empty for UNSPECIFIED.
template <class Enum>
std::string Text(Enum value) {
  return value == 0 ? std::string() : EnumText(*google::protobuf::GetEnumDescriptor<Enum>(), value);
}

// Bytes to reserve for a page of at most `limit` items when the first one takes `item_bytes`: items of a page have
// similar sizes, and reserving room for all avoids copies when the buffer grows.
size_t PageReserve(std::optional<int64_t> limit, size_t item_bytes);

void FillCapacity(const engine::ConsumedCapacity& from, api::v1::ConsumedCapacity* to);

// An encoded ItemCollectionMetrics message.
std::string SerializeCollection(const engine::ItemCollectionMetrics& metrics);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_MESSAGE_PARTS_H_
