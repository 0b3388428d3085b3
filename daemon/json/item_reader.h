#ifndef ARMATURE_DAEMON_JSON_ITEM_READER_H_
#define ARMATURE_DAEMON_JSON_ITEM_READER_H_

// Items and values of a document to the wire form that the engine takes (engine/items/request.h).
//
// The wire form says all that the document says, also what is wrong with it: a value without a type, one of several
// types, a number that is none, nesting without bounds. To judge that is the engine's part. What is judged here are
// JSON types and base64, which the wire form has no place for.
//
// Errors: SerializationException with the documented texts.

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/json/json_reader.h"

namespace armature::daemon {

// A map of values: an item, a key, expression values. `wire` becomes that of an armature.api.v1.Item. Each name is once
// in it: of several the last counts.
absl::Status ReadItem(JsonValue value, std::string* wire);
absl::Status ReadItem(JsonValue value, std::optional<std::string>* wire);

// One value. `wire` becomes that of an armature.api.v1.AttributeValue. Null is a value without a type.
absl::Status ReadAttributeValue(JsonValue value, std::string* wire);
absl::Status ReadAttributeValue(JsonValue value, std::optional<std::string>* wire);

absl::Status ReadAttributeValueList(JsonValue value, std::optional<std::vector<std::string>>* wires);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_ITEM_READER_H_
