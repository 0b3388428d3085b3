#ifndef ARMATURE_DAEMON_API_WIRE_SPLIT_H_
#define ARMATURE_DAEMON_API_WIRE_SPLIT_H_

// Takes the items out of a request before it is parsed.
//
// Items, keys and expression values are by far the largest part of a request, and the engine reads them as they stand
// on the wire. So their fields are lifted out by walking the top-level fields once, and only the small rest becomes a
// message.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/api/legacy_messages.h"
#include "storage/model/wire.h"

namespace armature::daemon {

// Field numbers that all item requests share (proto/armature/api/v1/items.proto).
inline constexpr uint32_t kItemField = 2;     // the item, the key, or the start key
inline constexpr uint32_t kValuesField = 15;  // expression_attribute_values

struct SplitRequest {
  // Everything else, a valid encoding of the same message.
  std::string rest;
  // Wire form of armature.api.v1.Item, if the field was there. Repeated occurrences are joined, which merges them as
  // the protocol demands.
  std::optional<std::string> item;
  // Entries of expression_attribute_values as an Item, if there was any.
  std::optional<std::string> values;
  // Entries of the maps that `legacy` numbers, in their order. They point into the request.
  std::vector<model::WireField> legacy;
};

// `legacy`: the maps of the operation's legacy parameters, which are lifted out as well.
// False if `request` is not the encoding of any message, or the item or a value has the wrong wire type.
[[nodiscard]] bool Split(std::string_view request, const LegacyFields& legacy, SplitRequest* split);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_WIRE_SPLIT_H_
