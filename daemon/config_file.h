#ifndef ARMATURE_DAEMON_CONFIG_FILE_H_
#define ARMATURE_DAEMON_CONFIG_FILE_H_

// Configuration files.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace armature::daemon {

// A line `name = value`.
struct ConfigLine {
  std::string name;
  std::string value;
  int number = 0;  // from 1
};

// The lines `name = value` of a file, without blanks around name and value. Empty lines and lines that begin with '#'
// are ignored. A value extends to the end of its line and has no special characters. Errors: InvalidArgument with one
// line that has the line number; a repeated name is an error.
absl::StatusOr<std::vector<ConfigLine>> ParseConfigText(std::string_view text);

// Parses the content of a file. Errors: InvalidArgument with one line that names the file.
absl::StatusOr<std::vector<ConfigLine>> ReadConfigFile(const std::string& path);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_CONFIG_FILE_H_
