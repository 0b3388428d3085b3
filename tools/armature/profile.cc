#include "tools/armature/profile.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include <toml++/toml.h>

#include "storage/base/did_you_mean.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kDefaultProfile[] = "default";

enum class Form { kText, kPath, kFlag, kNumber };

struct ProfileKey {
  std::string_view name;
  const char* option;
  Form form;
  bool is_of_daemon;  // describes the daemon and how to reach it
};

constexpr std::array<ProfileKey, 9> kKeys = {{{"endpoint", "--endpoint", Form::kText, true},
                                              {"tls", "--tls", Form::kFlag, true},
                                              {"tls_ca", "--tls-ca", Form::kPath, true},
                                              {"tls_cert", "--tls-cert", Form::kPath, true},
                                              {"tls_key", "--tls-key", Form::kPath, true},
                                              {"access_key", "--access-key", Form::kText, true},
                                              {"secret_file", "--secret-file", Form::kPath, true},
                                              {"output", "--output", Form::kText, false},
                                              {"timeout", "--timeout", Form::kNumber, false}}};

std::vector<std::string> KeyNames() {
  std::vector<std::string> names;
  names.reserve(kKeys.size());
  for (const ProfileKey& key : kKeys) names.emplace_back(key.name);
  return names;
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += Cat(text.empty() ? "" : ", ", name);
  return text;
}

std::string PlaceOf(const std::string& path, const toml::source_region& source) {
  return Cat(path, ":", source.begin.line);
}

absl::Status UnknownKey(const std::string& place, const std::string& name) {
  if (name == "secret" || name == "secret_key" || name == "secret_access_key") {
    return UsageError(Cat(place,
                          ": a secret does not belong into this file: write secret_file = \"FILE\", and the "
                          "secret into the first line of that file"));
  }
  return UsageError(
      Cat(place, ": unknown key '", name, "'", DidYouMean(name, KeyNames()), "; known keys: ", Joined(KeyNames())));
}

// Paths are relative to the file, because the working directory is another one each time.
std::string PathIn(const std::string& file, const std::string& value) {
  const char* const home = std::getenv("HOME");
  if (value.starts_with("~/") && home != nullptr) return (fs::path(home) / value.substr(2)).string();
  return (fs::path(file).parent_path() / value).string();
}

absl::StatusOr<std::string> ValueOf(const ProfileKey& key, const toml::node& node, const std::string& path) {
  const std::string place = PlaceOf(path, node.source());
  if (key.form == Form::kFlag) {
    const std::optional<bool> flag = node.value_exact<bool>();
    if (!flag.has_value()) return UsageError(Cat(place, ": ", key.name, " must be true or false"));
    return std::string(*flag ? "true" : "false");
  }
  if (key.form == Form::kNumber) {
    const std::optional<double> number = node.value<double>();
    if (!node.is_number() || !number.has_value()) return UsageError(Cat(place, ": ", key.name, " must be a number"));
    std::ostringstream text;
    text << *number;
    return text.str();
  }
  const std::optional<std::string> text = node.value_exact<std::string>();
  if (!text.has_value() || text->empty()) return UsageError(Cat(place, ": ", key.name, " must be a text in quotes"));
  return key.form == Form::kPath ? PathIn(path, *text) : *text;
}

absl::StatusOr<Profile> ProfileOf(const std::string& name, const toml::table& table, const std::string& path) {
  Profile profile{.name = name, .entries = {}};
  for (const auto& [key_node, node] : table) {
    const std::string key_name(key_node.str());
    const auto key =
        std::find_if(kKeys.begin(), kKeys.end(), [&](const ProfileKey& each) { return each.name == key_name; });
    if (key == kKeys.end()) return UnknownKey(PlaceOf(path, key_node.source()), key_name);
    ARM_ASSIGN_OR_RETURN(std::string value, ValueOf(*key, node, path));
    profile.entries.push_back({key->option, std::move(value), PlaceOf(path, node.source())});
  }
  return profile;
}

const ProfileEntry* EntryOf(const Profile& profile, std::string_view option) {
  const auto found = std::find_if(profile.entries.begin(), profile.entries.end(),
                                  [&](const ProfileEntry& entry) { return entry.option == option; });
  return found == profile.entries.end() ? nullptr : &*found;
}

bool IsOfDaemon(const std::string& option) {
  return std::any_of(kKeys.begin(), kKeys.end(),
                     [&](const ProfileKey& key) { return key.option == option && key.is_of_daemon; });
}

// True if the command line or the environment has given the option.
bool IsGiven(const CLI::App& app, const char* option) { return app.get_option(option)->count() > 0; }

// True if another daemon is given than the one that the profile describes, which is the usual one without an endpoint.
bool IsForAnotherDaemon(const Profile& profile, const CLI::App& app) {
  const CLI::Option* const given = app.get_option("--endpoint");
  if (given->count() == 0) return false;
  const ProfileEntry* const endpoint = EntryOf(profile, "--endpoint");
  return given->results().back() != (endpoint == nullptr ? given->get_default_str() : endpoint->value);
}

// True if the user has given a secret, or a key that the profile's secret does not belong to.
bool HasOwnSecret(const Profile& profile, const CLI::App& app) {
  if (std::getenv(kSecretVariable) != nullptr) return true;
  const ProfileEntry* const key = EntryOf(profile, "--access-key");
  return IsGiven(app, "--access-key") &&
         (key == nullptr || app.get_option("--access-key")->results().back() != key->value);
}

absl::Status Set(const ProfileEntry& entry, CLI::Option* option) {
  try {
    option->add_result(entry.value);
    option->run_callback();
  } catch (const CLI::ParseError& error) {
    return UsageError(Cat(entry.place, ": ", error.what()));
  }
  return absl::OkStatus();
}

}  // namespace

std::string ProfilesPath() {
  if (const char* const config = std::getenv("XDG_CONFIG_HOME"); config != nullptr && *config == '/') {
    return Cat(config, "/armature/config.toml");
  }
  const char* const home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : Cat(home, "/.config/armature/config.toml");
}

absl::StatusOr<std::vector<Profile>> ReadProfiles(const std::string& path) {
  std::vector<Profile> profiles;
  std::error_code error;
  if (path.empty() || !fs::exists(path, error)) return profiles;
  std::ifstream file(path, std::ios::binary);
  // A directory can be opened, and reading it throws.
  if (!file.is_open() || fs::is_directory(path, error)) return UsageError(Cat("cannot read ", path));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  toml::table root;
  try {
    root = toml::parse(text, path);
  } catch (const toml::parse_error& fault) {
    return UsageError(Cat(PlaceOf(path, fault.source()), ": ", fault.description()));
  }
  for (const auto& [key, node] : root) {
    const std::string name(key.str());
    if (!node.is_table()) {
      return UsageError(
          Cat(PlaceOf(path, key.source()), ": '", name, "' stands before the first profile, such as [default]"));
    }
    ARM_ASSIGN_OR_RETURN(profiles.emplace_back(), ProfileOf(name, *node.as_table(), path));
  }
  return profiles;
}

absl::Status ApplyProfile(const std::vector<Profile>& profiles, std::string_view name, const std::string& path,
                          CLI::App* app) {
  const std::string_view wanted = name.empty() ? kDefaultProfile : name;
  const auto profile =
      std::find_if(profiles.begin(), profiles.end(), [&](const Profile& each) { return each.name == wanted; });
  if (profile == profiles.end()) {
    if (name.empty()) return absl::OkStatus();
    std::vector<std::string> names;
    names.reserve(profiles.size());
    for (const Profile& each : profiles) names.push_back(each.name);
    return UsageError(Cat(path, ": no profile [", name, "]", DidYouMean(name, names),
                          names.empty() ? "; it has none" : Cat("; it has: ", Joined(names))));
  }
  const bool only_habits = name.empty() && IsForAnotherDaemon(*profile, *app);
  const bool has_own_secret = HasOwnSecret(*profile, *app);
  for (const ProfileEntry& entry : profile->entries) {
    CLI::Option* const option = app->get_option(entry.option);
    if (option->count() > 0 || (only_habits && IsOfDaemon(entry.option))) continue;
    if (has_own_secret && entry.option == "--secret-file") continue;
    ARM_RETURN_IF_ERROR(Set(entry, option));
  }
  return absl::OkStatus();
}

}  // namespace armature::cli
