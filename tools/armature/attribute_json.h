#ifndef ARMATURE_TOOLS_ARMATURE_ATTRIBUTE_JSON_H_
#define ARMATURE_TOOLS_ARMATURE_ATTRIBUTE_JSON_H_

// Attribute values and items between the documented JSON form and the messages of the API.
//
// The JSON form tags each value with its type: {"S": "text"}, {"N": "12.5"}, {"B": "<base64>"},
// {"BOOL": true},
// {"NULL": true}, {"SS": ["a"]}, {"NS": ["1"]}, {"BS": ["<base64>"]}, {"L": [...]}, {"M": {...}}.
//
// Reading is strict about this form and names the path of what is wrong, such as "Tags.L[2].N".
// Rules of the data model (digits of a number, duplicates in a set, sizes) are the daemon's
// business and not checked here.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/api/v1/types.pb.h"
#include "tools/armature/json_text.h"

namespace armature::cli {

// Values may nest this many levels, the outermost included; as the API documents.
inline constexpr int kValueDepthMax = 32;

// `path` begins the path in messages; it may be empty.
absl::StatusOr<api::v1::AttributeValue> AttributeValueFromJson(const Json& json, std::string_view path);

// An item, a key or a start key: values by attribute name.
absl::StatusOr<api::v1::Item> ItemFromJson(const Json& json, std::string_view path);

// Members are sorted by name, so that equal items print alike. A value without a type, which the
// daemon never sends, becomes {}.
Json AttributeValueToJson(const api::v1::AttributeValue& value);
Json ItemToJson(const api::v1::Item& item);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_ATTRIBUTE_JSON_H_
