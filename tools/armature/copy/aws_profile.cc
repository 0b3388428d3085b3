#include "tools/armature/copy/aws_profile.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "storage/base/strings.h"
#include "tools/armature/session.h"

namespace armature::cli::copy {
namespace {

// Bound of the files, which have a few lines.
constexpr uintmax_t kIniBytesMax = 1 << 20;

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string AwsFile(const char* variable, std::string_view name) {
  if (std::string path = Environment(variable); !path.empty()) return path;
  const std::string home = Environment("HOME");
  return home.empty() ? "" : Cat(home, "/.aws/", name);
}

IniSections ReadIni(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > kIniBytesMax)
    return {};
  std::ifstream in(path, std::ios::binary);
  return ParseIni(std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>()));
}

// The keys of the profile in both files; those of the credentials come first.
std::map<std::string, std::string> KeysOf(std::string_view name, bool* is_found) {
  std::map<std::string, std::string> keys;
  const auto add = [&keys, is_found](const IniSections& sections, std::string_view section) {
    const auto found = sections.find(section);
    if (found == sections.end()) return;
    *is_found = true;
    keys.insert(found->second.begin(), found->second.end());
  };
  *is_found = false;
  add(ReadIni(AwsFile("AWS_SHARED_CREDENTIALS_FILE", "credentials")), name);
  const IniSections config = ReadIni(AwsFile("AWS_CONFIG_FILE", "config"));
  add(config, Cat("profile ", name));
  if (name == "default") add(config, name);
  return keys;
}

void SetIfEmpty(const std::string& value, std::string* member) {
  if (member->empty()) *member = value;
}

}  // namespace

IniSections ParseIni(std::string_view text) {
  IniSections sections;
  std::string section;
  for (const auto line : absl::StrSplit(Av(text), '\n')) {
    if (line.empty() || absl::ascii_isspace(static_cast<unsigned char>(line[0]))) continue;
    const auto trimmed = absl::StripAsciiWhitespace(line);
    if (trimmed[0] == '#' || trimmed[0] == ';') continue;
    if (trimmed[0] == '[') {
      const size_t end = trimmed.find(']');
      section = std::string(absl::StripAsciiWhitespace(trimmed.substr(1, end == trimmed.npos ? end : end - 1)));
      sections[section];
      continue;
    }
    const size_t equals = trimmed.find('=');
    if (equals == trimmed.npos || section.empty()) continue;
    const std::string key(absl::StripAsciiWhitespace(trimmed.substr(0, equals)));
    sections[section][absl::AsciiStrToLower(key)] = std::string(absl::StripAsciiWhitespace(trimmed.substr(equals + 1)));
  }
  return sections;
}

bool HasAwsProfile(std::string_view name) {
  bool is_found = false;
  KeysOf(name, &is_found);
  return is_found;
}

absl::StatusOr<AwsSettings> ReadAwsSettings(std::string_view name) {
  AwsSettings settings;
  const bool is_named = !name.empty();
  std::string profile(name);
  if (!is_named) {
    settings.access_key_id = Environment("AWS_ACCESS_KEY_ID");
    settings.secret = Environment("AWS_SECRET_ACCESS_KEY");
    settings.session_token = Environment("AWS_SESSION_TOKEN");
    settings.region = Environment("AWS_REGION");
    SetIfEmpty(Environment("AWS_DEFAULT_REGION"), &settings.region);
    profile = Environment("AWS_PROFILE");
    SetIfEmpty("default", &profile);
  }
  settings.ca_bundle = Environment("AWS_CA_BUNDLE");
  bool is_found = false;
  std::map<std::string, std::string> keys = KeysOf(profile, &is_found);
  if (!is_found && is_named)
    return UsageError(Cat("no profile [", profile, "] in ~/.aws/config or ~/.aws/credentials"));
  if (settings.access_key_id.empty() || settings.secret.empty()) {
    settings.access_key_id = keys["aws_access_key_id"];
    settings.secret = keys["aws_secret_access_key"];
    settings.session_token = keys["aws_session_token"];
  }
  for (const char* const key : {"role_arn", "sso_session", "sso_start_url", "credential_process", "login_session"}) {
    if (!keys[key].empty() && settings.secret.empty()) {
      return UsageError(Cat("the profile [", profile, "] has its credentials from ", key,
                            ", which is not read here. Pass them by the environment: eval \"$(aws configure "
                            "export-credentials --profile ",
                            profile, " --format env)\""));
    }
  }
  SetIfEmpty(keys["region"], &settings.region);
  SetIfEmpty(keys["endpoint_url"], &settings.endpoint_url);
  SetIfEmpty(keys["ca_bundle"], &settings.ca_bundle);
  return settings;
}

}  // namespace armature::cli::copy
