#ifndef ARMATURE_DAEMON_API_MESSAGE_PARTS_H_
#define ARMATURE_DAEMON_API_MESSAGE_PARTS_H_

// Parts shared by item requests and answers, single or in batches and transactions.
//
// Items, keys and expression values are the largest part of a request, and the engine reads them in wire form. One pass
// over the top-level fields extracts them, and only the small rest is parsed into a message.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/api/v1/items.pb.h"
#include "daemon/message_json/message_names.h"
#include "engine/capacity.h"
#include "engine/items/request.h"
#include "storage/base/strings.h"
#include "storage/model/wire.h"

namespace armature::daemon {

// Field numbers shared by all item requests (proto/armature/api/v1/items.proto).
inline constexpr uint32_t kItemField = 2;     // the item, the key, or the start key
inline constexpr uint32_t kValuesField = 15;  // expression_attribute_values

// Field numbers of map entries.
inline constexpr uint32_t kMapKeyField = 1;
inline constexpr uint32_t kMapValueField = 2;

// Field numbers of an operation's maps of legacy (pre-expression) parameters; 0: the operation has no such map.
struct LegacyFields {
  uint32_t attribute_updates = 0;
  uint32_t expected = 0;
  uint32_t key_conditions = 0;
  uint32_t query_filter = 0;
  uint32_t scan_filter = 0;

  constexpr bool Contains(uint32_t number) const {
    return number == attribute_updates || number == expected || number == key_conditions || number == query_filter ||
           number == scan_filter;
  }
};
inline constexpr LegacyFields kNoLegacyFields;

struct SplitRequest {
  // All other fields: a valid encoding of the same message.
  std::string rest;
  // Wire form of armature.api.v1.Item, if the field is present. Repeated occurrences are joined, which merges them as
  // protobuf requires.
  std::optional<std::string> item;
  // Entries of expression_attribute_values as an Item, if there are any.
  std::optional<std::string> values;
  // Entries of the maps numbered by `legacy`, in order. They point into the request.
  std::vector<model::WireField> legacy;
};

// `legacy`: field numbers of the operation's legacy maps, which are extracted as well.
// False if `request` is not the encoding of a message, or the item or a value has the wrong wire type.
[[nodiscard]] bool Split(std::string_view request, const LegacyFields& legacy, SplitRequest* split);

absl::Status NotAMessageError(std::string_view operation);

// Separates the items from the request and parses the rest into `message`. Errors: SerializationException.
template <class Message>
absl::StatusOr<SplitRequest> ParseSplit(std::string_view bytes, std::string_view operation, const LegacyFields& legacy,
                                        Message* message) {
  SplitRequest split;
  if (!Split(bytes, legacy, &split) || !message->ParseFromString(split.rest)) return NotAMessageError(operation);
  return split;
}

// Fills the maps of `to` from the legacy fields of a request with their `numbers`. A map without entries is left out,
// because protobuf cannot tell it from an absent one. Among entries with the same name the last one counts, as protobuf
// requires. Entries are read in place and never parsed into messages.
//
// Errors: SerializationException for malformed entries. Values are not validated.
absl::Status ReadLegacyMaps(const std::vector<model::WireField>& fields, const LegacyFields& numbers,
                            engine::LegacyParameters* to);

// The placeholder names of a request with expressions.
template <class Message>
void TakeNames(const Message& message, engine::ExpressionParameters* to) {
  if (message.expression_attribute_names().empty()) return;
  StringMap<std::string>& names = to->names.emplace();
  for (const auto& [placeholder, name] : message.expression_attribute_names()) names.emplace(placeholder, name);
}

// Protobuf cannot tell an empty list from an absent one.
template <class Message>
void TakeAttributesToGet(const Message& message, engine::ExpressionParameters* to) {
  if (message.attributes_to_get().empty()) return;
  to->legacy.attributes_to_get.emplace(message.attributes_to_get().begin(), message.attributes_to_get().end());
}

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
