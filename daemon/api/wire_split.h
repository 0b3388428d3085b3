#ifndef ARMATURE_DAEMON_API_WIRE_SPLIT_H_
#define ARMATURE_DAEMON_API_WIRE_SPLIT_H_

// Separates the items from a request before it is parsed.
//
// Items, keys and expression values are the largest part of a request, and the engine reads them in wire form. One pass
// over the top-level fields extracts them, and only the small rest is parsed into a message.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/api/legacy_messages.h"
#include "storage/model/wire.h"

namespace armature::daemon {

// Field numbers shared by all item requests (proto/armature/api/v1/items.proto).
inline constexpr uint32_t kItemField = 2;     // the item, the key, or the start key
inline constexpr uint32_t kValuesField = 15;  // expression_attribute_values

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

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_WIRE_SPLIT_H_
