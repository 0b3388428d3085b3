#ifndef ARMATURE_DAEMON_FLAGS_H_
#define ARMATURE_DAEMON_FLAGS_H_

// The command line, files of flags, and what is made from the table of flags: help, files, docs/reference/flags.md.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/config.h"

namespace armature::daemon {

// Every flag has its default.
Config DefaultConfig();

// The flags of the command line (without the name of the program), over those of the file that --config names, over
// the defaults. --NAME=VALUE and --NAME VALUE set a flag, --NAME and --noNAME a switch; one hyphen does, too; the last
// of several counts, and all are checked. Errors: InvalidArgument with one line that names the flag, the value and what
// is allowed, and for a file its line.
absl::StatusOr<Config> ReadFlags(const std::vector<std::string_view>& arguments);

// All flags in groups, each with its unit, default, limits and text.
std::string FlagHelp();

// The content of docs/reference/flags.md.
std::string FlagsDocument();

// A file of flags that sets all flags as `given`, which MakeConfig has not completed. Sorted by name.
std::string ConfigText(const Config& given);

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
