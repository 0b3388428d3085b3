#ifndef ARMATURE_TOOLS_ARMATURE_MESSAGE_JSON_H_
#define ARMATURE_TOOLS_ARMATURE_MESSAGE_JSON_H_

// Any message of the API between its documented JSON form and protobuf, by reflection.
//
// The documented names are CamelCase (TableName, KeySchema); enum values lose the prefix that
// carries the enum's name (KEY_TYPE_HASH is "HASH"); a time in milliseconds loses its suffix and is
// a number of seconds (CreationDateTime); items and attribute values have the form of
// attribute_json.h. Members that the documented API lacks, such as change_sequence, follow the same
// rules (ChangeSequence).

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "daemon/message_json/message_names.h"
#include "google/protobuf/message.h"
#include "tools/armature/json_text.h"

namespace armature::cli {

// Sets what `json` has, over what the message held before. A member that the message lacks is an
// error, as is a value of another type; messages name the path, such as "KeySchema[1].KeyType".
// `path` begins it and may be empty.
absl::Status MessageFromJson(const Json& json, std::string_view path, google::protobuf::Message* message);

// Numbers and booleans without presence always appear; strings, enums, lists and maps only if they
// hold something.
Json MessageToJson(const google::protobuf::Message& message);

// The name of a field in JSON.
using daemon::JsonName;

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_MESSAGE_JSON_H_
