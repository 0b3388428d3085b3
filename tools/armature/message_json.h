#ifndef ARMATURE_TOOLS_ARMATURE_MESSAGE_JSON_H_
#define ARMATURE_TOOLS_ARMATURE_MESSAGE_JSON_H_

// Any message of the API between JSON and protobuf, in the dialect of the command line (daemon/message_json).
//
// The documented names are CamelCase (TableName, KeySchema); enum values lose the prefix that carries the enum's name
// (KEY_TYPE_HASH is "HASH"); a time in milliseconds loses its suffix and is a number of seconds (CreationDateTime).
// Members that the documented API lacks, such as change_sequence, follow the same rules (ChangeSequence).
//
// Reading is strict. Errors name the path of the fault, such as "KeySchema[1].KeyType" or "Tags.L[2].N". Parameters
// named `path` are its prefix and may be empty. The daemon checks the rules of the data model (digits of a number,
// duplicates in a set, sizes).

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/api/v1/types.pb.h"
#include "daemon/message_json/message_names.h"
#include "google/protobuf/message.h"
#include "tools/armature/json_text.h"

namespace armature::cli {

// Sets what `json` has, over what the message held before. The message may be an Item or an AttributeValue. A member
// that the message lacks is an error, as is a value of another type.
absl::Status MessageFromJson(const Json& json, std::string_view path, google::protobuf::Message* message);

absl::StatusOr<api::v1::AttributeValue> AttributeValueFromJson(const Json& json, std::string_view path);
// An item, a key or a start key: values by attribute name.
absl::StatusOr<api::v1::Item> ItemFromJson(const Json& json, std::string_view path);

// Numbers and booleans without presence always appear; strings, enums, lists and maps only if they hold something.
// Attributes of an item are sorted by name, so that equal items print alike.
Json MessageToJson(const google::protobuf::Message& message);

// The name of a field in JSON.
using daemon::JsonName;

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_MESSAGE_JSON_H_
