#ifndef ARMATURE_DAEMON_MESSAGE_JSON_ITEM_JSON_H_
#define ARMATURE_DAEMON_MESSAGE_JSON_ITEM_JSON_H_

// Items as JSON, written directly from their bytes.

#include <string_view>

#include "daemon/message_json/json_writer.h"

namespace armature::daemon {

// Writes {"name":{"S":"text"},...} as a value. `item_bytes` are canonical; malformed bytes end the item, as in
// model::ItemView.
void WriteItem(std::string_view item_bytes, JsonWriter* writer);

// Writes one value: {"S":"text"}. `wire` is an encoded armature.api.v1.AttributeValue.
void WriteAttributeValue(std::string_view wire, JsonWriter* writer);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_MESSAGE_JSON_ITEM_JSON_H_
