#ifndef ARMATURE_TOOLS_ARMATURE_JSON_FILE_H_
#define ARMATURE_TOOLS_ARMATURE_JSON_FILE_H_

// Reads JSON files that the tool itself has written.

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tools/armature/json_text.h"

namespace armature::cli {

// Errors: NOT_FOUND if the file cannot be read; INVALID_ARGUMENT if it is not JSON.
inline absl::StatusOr<Json> ReadJsonFile(const std::string& path) { return ParseJsonArgument("@" + path); }

// The member `name`, which must be a string or a number that is not negative. Both throw Json::exception if it is
// missing or has another type.
inline const std::string& TextAt(const Json& json, const char* name) {
  return json.at(name).get_ref<const std::string&>();
}
inline int64_t NumberAt(const Json& json, const char* name) {
  return static_cast<int64_t>(json.at(name).get_ref<const Json::number_unsigned_t&>());
}

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_JSON_FILE_H_
