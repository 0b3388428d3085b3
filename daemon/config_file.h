#ifndef ARMATURE_DAEMON_CONFIG_FILE_H_
#define ARMATURE_DAEMON_CONFIG_FILE_H_

// Files of flags.

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

// The lines of a file: `name = value`, where blanks around both mean nothing; lines that are empty or begin with '#'
// are left out. A value goes to the end of its line; nothing in it is special. Errors: InvalidArgument with one line
// that names the number of the line; a name that comes twice is one.
absl::StatusOr<std::vector<ConfigLine>> ParseConfigText(std::string_view text);

// The same of a file. Errors: InvalidArgument with one line that names the file.
absl::StatusOr<std::vector<ConfigLine>> ReadConfigFile(const std::string& path);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_CONFIG_FILE_H_
