#ifndef ARMATURE_TOOLS_ARMATURE_JSON_TEXT_H_
#define ARMATURE_TOOLS_ARMATURE_JSON_TEXT_H_

// JSON as text: what the user typed, and what we print.

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"

namespace armature::cli {

// Members keep their order, so that answers read as documented.
using Json = nlohmann::ordered_json;

// Deeper texts are refused. Values nest 32 levels with two JSON levels each; tables far fewer.
inline constexpr int kJsonDepthMax = 80;

// Parses one JSON document. Beyond what JSON demands, a member that occurs twice in one object is
// an error: it is always a slip, and no choice between the two would be right.
absl::StatusOr<Json> ParseJson(std::string_view text);

// The argument of an option that takes JSON: the text itself, or @file for what the file holds.
absl::StatusOr<Json> ParseJsonArgument(const std::string& argument);

// Indented by four blanks, one line break at the end. Never fails.
std::string PrettyJson(const Json& json);

// On one line.
std::string CompactJson(const Json& json);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_JSON_TEXT_H_
