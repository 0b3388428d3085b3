#ifndef ARMATURE_DAEMON_FLAGS_H_
#define ARMATURE_DAEMON_FLAGS_H_

// The text of `armatured --help`, and files of flags.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace armature::daemon {

struct FlagText {
  std::string help;
  std::string default_value;
};

// The flags of `flags` (by name), in groups by subject, each with the unit of its value, its default and its help text.
// A flag of no group is in the last one, "Others".
std::string FlagHelp(const std::map<std::string, FlagText>& flags);

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

#endif  // ARMATURE_DAEMON_FLAGS_H_
