#ifndef ARMATURE_TOOLS_ARMATURE_ATTRIBUTE_JSON_H_
#define ARMATURE_TOOLS_ARMATURE_ATTRIBUTE_JSON_H_

// Converts attribute values and items between the documented JSON form and API messages.
//
// The JSON form tags each value with its type: {"S": "text"}, {"N": "12.5"}, {"B": "<base64>"},
// {"BOOL": true},
// {"NULL": true}, {"SS": ["a"]}, {"NS": ["1"]}, {"BS": ["<base64>"]}, {"L": [...]}, {"M": {...}}.
//
// Reading is strict. Errors name the path of the fault, such as "Tags.L[2].N". The daemon checks the rules of the data
// model (digits of a number, duplicates in a set, sizes).

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/api/v1/types.pb.h"
#include "tools/armature/json_text.h"

namespace armature::cli {

// Maximum nesting of values, including the outermost level, as documented for the API.
inline constexpr int kValueDepthMax = 32;

// `path`: prefix of the path in error messages; may be empty.
absl::StatusOr<api::v1::AttributeValue> AttributeValueFromJson(const Json& json, std::string_view path);

// An item, a key or a start key: values by attribute name.
absl::StatusOr<api::v1::Item> ItemFromJson(const Json& json, std::string_view path);

// Members are sorted by name, so that equal items print alike. A value without a type, which the daemon never sends,
// becomes {}.
Json AttributeValueToJson(const api::v1::AttributeValue& value);
Json ItemToJson(const api::v1::Item& item);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_ATTRIBUTE_JSON_H_
