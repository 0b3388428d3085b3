#ifndef ARMATURE_TOOLS_ARMATURE_PROFILE_H_
#define ARMATURE_TOOLS_ARMATURE_PROFILE_H_

// Profiles: sets of global options under a name, in $XDG_CONFIG_HOME/armature/config.toml or
// ~/.config/armature/config.toml.
//
//   [default]                    # taken if no profile is named
//   endpoint = "127.0.0.1:7700"
//   [live]
//   endpoint = "db.example.net:7700"
//   tls_ca = "live-ca.pem"       # relative to the directory of this file; ~/ is the home directory
//   access_key = "AKAPP"
//   secret_file = "~/.live-secret"
//
// A profile does not inherit from [default]. Secrets themselves are refused, because such files are copied and shared.

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace armature::cli {

// A key of a profile.
struct ProfileEntry {
  std::string option;  // the global option that it sets, with its dashes
  std::string value;
  std::string place;  // "FILE:LINE"
};

struct Profile {
  std::string name;
  std::vector<ProfileEntry> entries;
};

// The path of the file; empty if the user has no directory for it.
std::string ProfilesPath();

// All profiles of the file; none if there is no file. Errors: UsageError with file and line, for everything that is not
// a known key of a profile with a value of its type.
absl::StatusOr<std::vector<Profile>> ReadProfiles(const std::string& path);

// Sets the global options that neither the command line nor the environment has given. `name`: the profile that the
// user has named; empty: [default], if there is one. [default] describes one daemon: if another endpoint is given, only
// its output and timeout count. Errors: UsageError.
absl::Status ApplyProfile(const std::vector<Profile>& profiles, std::string_view name, const std::string& path,
                          CLI::App* app);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_PROFILE_H_
