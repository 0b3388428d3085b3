#ifndef ARMATURE_DAEMON_MESSAGE_JSON_ITEM_READER_H_
#define ARMATURE_DAEMON_MESSAGE_JSON_ITEM_READER_H_

// Converts items and values of a document to the engine's wire form (engine/items/request.h).
//
// The wire form keeps invalid values: without a type, with several types, invalid numbers, unlimited nesting. The
// engine refuses these. Only JSON types and base64 are checked here, because the wire form cannot hold their faults.
//
// Errors: SerializationException with the documented texts.

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/message_json/json_reader.h"

namespace armature::daemon {

// Reads a map of values: an item, a key, expression values. `wire` becomes an encoded armature.api.v1.Item. Among
// entries with the same name the last one counts.
absl::Status ReadItem(JsonValue value, std::string* wire);

// Reads one value. `wire` becomes an encoded armature.api.v1.AttributeValue. Null is a value without a type.
absl::Status ReadAttributeValue(JsonValue value, std::string* wire);
absl::Status ReadAttributeValueList(JsonValue value, std::vector<std::string>* wires);

// Readers of members that may be absent.
inline absl::Status ReadItem(JsonValue value, std::optional<std::string>* wire) {
  return ReadItem(value, &wire->emplace());
}
inline absl::Status ReadAttributeValue(JsonValue value, std::optional<std::string>* wire) {
  return ReadAttributeValue(value, &wire->emplace());
}
inline absl::Status ReadAttributeValueList(JsonValue value, std::optional<std::vector<std::string>>* wires) {
  return ReadAttributeValueList(value, &wires->emplace());
}

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_MESSAGE_JSON_ITEM_READER_H_
