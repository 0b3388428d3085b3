#ifndef ARMATURE_TOOLS_ARMATURE_JSON_TEXT_H_
#define ARMATURE_TOOLS_ARMATURE_JSON_TEXT_H_

// Parses and prints JSON.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"

namespace armature::cli {

// Members keep their order, so that answers have the documented order.
using Json = nlohmann::ordered_json;

// Maximum nesting of a text. Values nest 32 levels with two JSON levels each; tables need far fewer.
inline constexpr int kJsonDepthMax = 80;

// Parses one JSON document. A duplicate member of an object is an error too, because it is always a mistake. An error
// of the grammar ends with PlaceIn.
absl::StatusOr<Json> ParseJson(std::string_view text);

// The line of a faulty text around its byte `byte`, counted from 1, and a line below it with a caret under this byte.
std::string PlaceIn(std::string_view text, size_t byte);

// The argument itself, or @file for the content of a file. Errors: NOT_FOUND if the file cannot be read.
absl::StatusOr<std::string> TextOfArgument(const std::string& argument);

// Errors: NOT_FOUND if the file cannot be read; INVALID_ARGUMENT.
absl::StatusOr<Json> ReadJsonFile(const std::string& path);

// Parses the argument of an option that takes JSON: the text itself, or @file for the content of a file. Errors: those
// of ReadJsonFile.
absl::StatusOr<Json> ParseJsonArgument(const std::string& argument);

// The member `name`, which must be a string or a number that is not negative. Both throw Json::exception if it is
// missing or has another type.
inline const std::string& TextAt(const Json& json, const char* name) {
  return json.at(name).get_ref<const std::string&>();
}
inline int64_t NumberAt(const Json& json, const char* name) {
  return static_cast<int64_t>(json.at(name).get_ref<const Json::number_unsigned_t&>());
}

// The JSON with an indentation of four blanks and a line break at its end. Never fails.
std::string PrettyJson(const Json& json);

// The JSON on one line.
std::string CompactJson(const Json& json);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_JSON_TEXT_H_
