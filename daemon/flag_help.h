#ifndef ARMATURE_DAEMON_FLAG_HELP_H_
#define ARMATURE_DAEMON_FLAG_HELP_H_

// The text of `armatured --help`.

#include <map>
#include <string>
#include <vector>

namespace armature::daemon {

struct FlagText {
  std::string help;
  std::string default_value;
};

// The flags of `flags` (by name), in groups by subject, each with the unit of its value, its default and its help text.
// A flag of no group is in the last one, "Others".
std::string FlagHelp(const std::map<std::string, FlagText>& flags);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_FLAG_HELP_H_
