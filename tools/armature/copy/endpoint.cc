#include "tools/armature/copy/endpoint.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/copy/aws_profile.h"
#include "tools/armature/profile.h"
#include "tools/armature/session.h"

namespace armature::cli::copy {
namespace {

constexpr char kUnixPrefix[] = "unix:";
// Armature without access keys, and emulators, accept any signature.
constexpr char kOpenKey[] = "local";
constexpr char kDefaultRegion[] = "us-east-1";

bool IsCloudHost(std::string_view host) {
  return absl::StrContains(Av(host), ".amazonaws.com") || absl::EndsWith(Av(host), ".api.aws");
}

absl::StatusOr<std::string> SecretIn(const std::string& path) {
  std::ifstream in(path);
  std::string secret;
  if (!std::getline(in, secret) || secret.empty()) return UsageError(Cat("cannot read a secret from ", path));
  return secret;
}

// The side that a profile of `armature` describes.
absl::Status TakeProfile(const Profile& profile, Endpoint* endpoint, std::string* address) {
  bool is_tls = false;
  *address = kDefaultEndpoint;
  for (const ProfileEntry& entry : profile.entries) {
    if (entry.option == "--endpoint") *address = entry.value;
    if (entry.option == "--tls") is_tls = is_tls || entry.value == "true";
    if (entry.option == "--tls-ca") endpoint->link.ca_file = entry.value;
    if (entry.option == "--tls-cert") endpoint->link.certificate_file = entry.value;
    if (entry.option == "--tls-key") endpoint->link.key_file = entry.value;
    if (entry.option == "--access-key") endpoint->key.access_key_id = entry.value;
    if (entry.option == "--secret-file") {
      ARM_ASSIGN_OR_RETURN(endpoint->key.secret, SecretIn(entry.value));
    }
  }
  is_tls = is_tls || !endpoint->link.ca_file.empty() || !endpoint->link.certificate_file.empty();
  if (!endpoint->key.access_key_id.empty() && endpoint->key.secret.empty()) {
    const char* const secret = std::getenv(kSecretVariable);
    if (secret == nullptr)
      return UsageError(Cat("the profile [", profile.name, "] needs secret_file, or ", kSecretVariable));
    endpoint->key.secret = secret;
  }
  if (!address->starts_with(kUnixPrefix)) *address = Cat(is_tls ? "https://" : "http://", *address);
  return absl::OkStatus();
}

absl::Status SetUrl(const std::string& url, Endpoint* endpoint) {
  if (url.starts_with(kUnixPrefix)) {
    endpoint->link.unix_socket = url.substr(sizeof(kUnixPrefix) - 1);
    endpoint->link.url = "http://localhost";
    return absl::OkStatus();
  }
  ARM_ASSIGN_OR_RETURN(const std::string host, HostOfUrl(url));
  endpoint->link.url = std::string(absl::StripSuffix(url, "/"));
  return absl::OkStatus();
}

// The URL of a place that is an address; empty for the name of a profile.
std::string AddressOf(const std::string& place) {
  if (absl::StrContains(place, "://") || place.starts_with(kUnixPrefix)) return place;
  return absl::StrContains(place, ':') ? Cat("http://", place) : "";
}

absl::StatusOr<const Profile*> FindProfile(const std::vector<Profile>& profiles, const std::string& name) {
  const auto found =
      std::find_if(profiles.begin(), profiles.end(), [&name](const Profile& each) { return each.name == name; });
  if (found != profiles.end()) return &*found;
  if (!HasAwsProfile(name)) {
    return UsageError(Cat("'", name, "' is neither an address (http://HOST:PORT) nor a profile in ", ProfilesPath(),
                          " or ~/.aws/config"));
  }
  return nullptr;
}

std::string FirstOf(const std::string& one, const std::string& other) { return one.empty() ? other : one; }

// Region and credentials of AWS for a side whose URL is known or not.
absl::Status TakeAws(const EndpointArguments& arguments, const std::string& profile, Endpoint* endpoint) {
  ARM_ASSIGN_OR_RETURN(const AwsSettings aws, ReadAwsSettings(profile));
  std::string region = FirstOf(arguments.region, RegionOfHost(endpoint->link.url));
  region = FirstOf(region, aws.region);
  if (endpoint->link.url.empty()) {
    if (region.empty() && aws.endpoint_url.empty()) {
      return UsageError(Cat("the region of the ", endpoint->name, " is not known: say --from-region or --to-region"));
    }
    ARM_RETURN_IF_ERROR(
        SetUrl(FirstOf(aws.endpoint_url, Cat("https://dynamodb.", region, ".amazonaws.com")), endpoint));
  }
  endpoint->key.region = FirstOf(region, kDefaultRegion);
  if (endpoint->link.ca_file.empty()) endpoint->link.ca_file = aws.ca_bundle;
  if (!endpoint->key.access_key_id.empty()) return absl::OkStatus();
  if (!aws.secret.empty()) {
    endpoint->key.access_key_id = aws.access_key_id;
    endpoint->key.secret = aws.secret;
    endpoint->key.session_token = aws.session_token;
  } else if (IsCloudHost(endpoint->link.url)) {
    return UsageError(Cat("no credentials for the ", endpoint->name,
                          ": name a profile by --from-profile or --to-profile, "
                          "or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"));
  } else {
    endpoint->key.access_key_id = endpoint->key.secret = kOpenKey;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> HostOfUrl(std::string_view url) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!url.starts_with(scheme)) continue;
    std::string_view host = url.substr(scheme.size());
    if (host.ends_with('/')) host.remove_suffix(1);
    const bool is_plain = std::all_of(host.begin(), host.end(), [](char c) {
      return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("-._:[]", c);
    });
    if (host.empty() || !is_plain) break;
    return std::string(host);
  }
  return UsageError(Cat("'", url, "' is not http://HOST[:PORT] or https://HOST[:PORT]"));
}

std::string RegionOfHost(std::string_view host) {
  const size_t scheme = host.find("://");
  if (scheme != host.npos) host.remove_prefix(scheme + 3);
  if (!IsCloudHost(host)) return "";
  const std::vector<std::string> parts = absl::StrSplit(Av(host), '.');
  // dynamodb.REGION.amazonaws.com, VPCE.dynamodb.REGION.vpce.amazonaws.com
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (parts[i] == "dynamodb" || parts[i] == "dynamodb-fips" || parts[i] == "ddb") return parts[i + 1];
  }
  return "";
}

absl::StatusOr<Endpoint> ResolveEndpoint(std::string_view name, const EndpointArguments& arguments) {
  Endpoint endpoint;
  endpoint.name = std::string(name);
  std::string profile = arguments.profile;
  std::string address = AddressOf(arguments.place);
  if (address.empty() && !arguments.place.empty()) {
    ARM_ASSIGN_OR_RETURN(const std::vector<Profile> profiles, ReadProfiles(ProfilesPath()));
    ARM_ASSIGN_OR_RETURN(const Profile* const own, FindProfile(profiles, arguments.place));
    if (own != nullptr) {
      ARM_RETURN_IF_ERROR(TakeProfile(*own, &endpoint, &address));
    } else {
      profile = arguments.place;
    }
  } else if (address.empty() && profile.empty()) {
    return UsageError(
        Cat("the ", name, " is not named: --", name == "source" ? "from" : "to", " takes an address or a profile"));
  }
  if (!address.empty()) ARM_RETURN_IF_ERROR(SetUrl(address, &endpoint));
  ARM_RETURN_IF_ERROR(TakeAws(arguments, profile, &endpoint));
  endpoint.link.timeout = arguments.timeout;
  endpoint.link.compresses = arguments.compresses;
  endpoint.streams = endpoint.link;
  constexpr std::string_view kCloudPrefix = "https://dynamodb.";
  if (IsCloudHost(endpoint.link.url) && endpoint.link.url.starts_with(kCloudPrefix)) {
    endpoint.streams.url = Cat("https://streams.dynamodb.", endpoint.link.url.substr(kCloudPrefix.size()));
  }
  return endpoint;
}

}  // namespace armature::cli::copy
