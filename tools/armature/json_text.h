#ifndef ARMATURE_TOOLS_ARMATURE_JSON_TEXT_H_
#define ARMATURE_TOOLS_ARMATURE_JSON_TEXT_H_

// Parses and prints JSON.

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"

namespace armature::cli {

// Members keep their order, so that answers have the documented order.
using Json = nlohmann::ordered_json;

// Maximum nesting of a text. Values nest 32 levels with two JSON levels each; tables need far fewer.
inline constexpr int kJsonDepthMax = 80;

// Parses one JSON document. A duplicate member of an object is an error too, because it is always a mistake.
absl::StatusOr<Json> ParseJson(std::string_view text);

// Parses the argument of an option that takes JSON: the text itself, or @file for the content of a file. Errors:
// NOT_FOUND if the file cannot be read; INVALID_ARGUMENT.
absl::StatusOr<Json> ParseJsonArgument(const std::string& argument);

// The JSON with an indentation of four blanks and a line break at its end. Never fails.
std::string PrettyJson(const Json& json);

// The JSON on one line.
std::string CompactJson(const Json& json);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_JSON_TEXT_H_
