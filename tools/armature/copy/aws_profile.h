#ifndef ARMATURE_TOOLS_ARMATURE_COPY_AWS_PROFILE_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_AWS_PROFILE_H_

// Credentials and regions where the command line and the libraries of AWS keep them: in the environment, in
// ~/.aws/credentials and in ~/.aws/config.

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace armature::cli::copy {

struct AwsSettings {
  std::string access_key_id;
  std::string secret;
  std::string session_token;
  std::string region;
  std::string endpoint_url;
  std::string ca_bundle;
};

// Keys and values of the sections of such a file, by name of the section. Indented lines, which belong to the key
// before them, are left out, and so are comments.
using IniSections = std::map<std::string, std::map<std::string, std::string>, std::less<>>;
IniSections ParseIni(std::string_view text);

// The settings of a profile. With an empty `name`, the environment comes first: its credentials, or the profile that
// AWS_PROFILE names, or [default]; members that nobody sets are empty. With a name, its credentials are those of the
// files only. Errors: UsageError if a named profile is missing, and for a profile whose credentials another program
// gives (roles, single sign-on, credential_process): the error says how to pass these.
absl::StatusOr<AwsSettings> ReadAwsSettings(std::string_view name);

// True if the files have a profile of this name.
bool HasAwsProfile(std::string_view name);

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_AWS_PROFILE_H_
