#include "daemon/auth/credentials.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "daemon/auth/policy.h"
#include "daemon/auth/private_file.h"
#include "engine/access/json_fields.h"
#include "storage/base/status_macros.h"

namespace armature::daemon {
namespace {

using access::Fault;
using access::ForEachElement;
using access::ForEachMember;
using access::Member;
using simdjson::dom::element;

constexpr size_t kDepthMax = 16;
constexpr size_t kKeyIdBytesMin = 3;
constexpr size_t kNameBytesMax = 128;
constexpr size_t kSecretBytesMin = 16;
constexpr size_t kSecretBytesMax = 256;
constexpr size_t kHashBytesMax = 512;
constexpr size_t kCertificateNameBytesMax = 253;

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}
bool IsTablePatternCharacter(char c) { return IsWordCharacter(c) || c == '.' || c == '/' || c == '*' || c == '?'; }
bool IsOperationPatternCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '*' || c == '?';
}
bool IsVisible(char c) { return c > ' ' && c <= '~'; }

struct TextRule {
  size_t bytes_min;
  size_t bytes_max;
  bool (*is_legal)(char);
  std::string_view legal;
};

absl::StatusOr<std::string> Text(const element& json, const std::string& place, const TextRule& rule) {
  std::string_view text;
  if (json.get(text) != simdjson::SUCCESS) return Fault(place, "must be a string");
  if (text.size() < rule.bytes_min || text.size() > rule.bytes_max) {
    return Fault(place, Cat("must have ", rule.bytes_min, " to ", rule.bytes_max, " characters"));
  }
  if (!std::all_of(text.begin(), text.end(), rule.is_legal)) return Fault(place, Cat("may hold ", rule.legal, " only"));
  return std::string(text);
}

constexpr TextRule kKeyId = {kKeyIdBytesMin, kNameBytesMax, IsWordCharacter, "letters, digits, - and _"};
constexpr TextRule kPolicyName = {1, kNameBytesMax, IsWordCharacter, "letters, digits, - and _"};
constexpr TextRule kSecret = {kSecretBytesMin, kSecretBytesMax, IsVisible, "printable ASCII without blanks"};
constexpr TextRule kHashText = {1, kHashBytesMax, IsVisible, "printable ASCII without blanks"};
constexpr TextRule kCertificateName = {1, kCertificateNameBytesMax, [](char c) { return c >= ' ' && c <= '~'; },
                                       "printable ASCII"};
constexpr TextRule kTablePattern = {1, Credentials::kPatternBytesMax, IsTablePatternCharacter,
                                    "letters, digits, - _ . / and the wildcards * and ?"};
constexpr TextRule kOperationPattern = {1, Credentials::kPatternBytesMax, IsOperationPatternCharacter,
                                        "letters and the wildcards * and ? (operations of the admin service are "
                                        "allowed by the policy's admin, not by patterns)"};

absl::StatusOr<access::Patterns> ReadPatterns(const element& json, const std::string& place, const TextRule& rule) {
  access::Patterns patterns;
  ARM_RETURN_IF_ERROR(ForEachElement(json, place, Credentials::kPatternsMax,
                                     [&](const std::string& at, const element& each) -> absl::Status {
                                       ARM_ASSIGN_OR_RETURN(std::string text, Text(each, at, rule));
                                       patterns.Add(std::move(text));
                                       return absl::OkStatus();
                                     }));
  if (patterns.empty()) return Fault(place, "must not be empty");
  return patterns;
}

absl::StatusOr<Policy::Entry> ReadEntry(const element& json, const std::string& place) {
  Policy::Entry entry;
  ARM_RETURN_IF_ERROR(ForEachMember(json, place, [&](std::string_view name, const element& value) -> absl::Status {
    const std::string at = Member(place, name);
    if (name == "operations") {
      ARM_ASSIGN_OR_RETURN(entry.operations, ReadPatterns(value, at, kOperationPattern));
    } else if (name == "tables") {
      ARM_ASSIGN_OR_RETURN(entry.tables, ReadPatterns(value, at, kTablePattern));
    } else if (name == "condition") {
      ARM_ASSIGN_OR_RETURN(entry.condition, access::Conditions::Parse(value, at));
    } else {
      return Fault(at, "is unknown; an entry has operations, tables and condition");
    }
    return absl::OkStatus();
  }));
  if (entry.operations.empty()) return Fault(place, "lacks operations");
  if (entry.tables.empty()) return Fault(place, "lacks tables");
  return entry;
}

absl::StatusOr<Policy> ReadPolicy(const element& json, const std::string& place) {
  Policy policy;
  ARM_RETURN_IF_ERROR(ForEachMember(json, place, [&](std::string_view name, const element& value) -> absl::Status {
    const std::string at = Member(place, name);
    if (name == "allow" || name == "deny") {
      std::vector<Policy::Entry>* const entries = name == "allow" ? &policy.allow : &policy.deny;
      return ForEachElement(value, at, Credentials::kEntriesMax,
                            [&](const std::string& entry_at, const element& each) -> absl::Status {
                              ARM_ASSIGN_OR_RETURN(entries->emplace_back(), ReadEntry(each, entry_at));
                              return absl::OkStatus();
                            });
    }
    if (name == "admin") {
      if (value.get(policy.admin) != simdjson::SUCCESS) return Fault(at, "must be true or false");
      return absl::OkStatus();
    }
    return Fault(at, "is unknown; a policy has allow, deny and admin");
  }));
  const absl::Status few = access::CheckPatternCount(policy.wildcards());
  if (!few.ok()) return WithContext(few, place);
  return policy;
}

}  // namespace

// Reads the file's parts in any order.
class CredentialsReader {
 public:
  explicit CredentialsReader(const std::shared_ptr<FailureLog>& log) : log_(log), result_(new Credentials()) {}

  absl::StatusOr<std::shared_ptr<const Credentials>> Read(const element& json) {
    std::optional<element> keys;
    std::optional<element> certificates;
    ARM_RETURN_IF_ERROR(ForEachMember(json, "", [&](std::string_view name, const element& value) {
      if (name == "policies") return ReadPolicies(value);
      if (name != "access_keys" && name != "certificates") {
        return Fault(name, "is unknown; the file has access_keys, certificates and policies");
      }
      (name == "access_keys" ? keys : certificates) = value;
      return absl::OkStatus();
    }));
    if (keys.has_value()) {
      ARM_RETURN_IF_ERROR(
          ForEachElement(*keys, "access_keys", Credentials::kKeysMax,
                         [this](const std::string& place, const element& each) { return ReadKey(each, place); }));
    }
    if (certificates.has_value()) {
      ARM_RETURN_IF_ERROR(ForEachElement(
          *certificates, "certificates", Credentials::kKeysMax,
          [this](const std::string& place, const element& each) { return ReadCertificate(each, place); }));
    }
    if (result_->keys_.empty() && result_->certificates_.empty()) {
      return Fault("", "there is neither an access key nor a certificate, so nobody could do anything");
    }
    return std::shared_ptr<const Credentials>(std::move(result_));
  }

 private:
  absl::Status ReadPolicies(const element& json) {
    return ForEachMember(json, "policies", [this](std::string_view name, const element& value) -> absl::Status {
      const std::string place = Member("policies", name);
      if (policies_.size() >= Credentials::kPoliciesMax) {
        return Fault("policies", Cat("has more than ", Credentials::kPoliciesMax, " members"));
      }
      if (name.empty() || name.size() > kNameBytesMax || !std::all_of(name.begin(), name.end(), IsWordCharacter)) {
        return Fault(place, Cat("the name must have 1 to ", kNameBytesMax, " letters, digits, - or _"));
      }
      ARM_ASSIGN_OR_RETURN(Policy policy, ReadPolicy(value, place));
      policies_[std::string(name)] = std::make_shared<const Policy>(std::move(policy));
      return absl::OkStatus();
    });
  }

  absl::StatusOr<std::shared_ptr<const Policy>> FindPolicy(const element& json, const std::string& place) const {
    ARM_ASSIGN_OR_RETURN(const std::string name, Text(json, place, kPolicyName));
    const auto found = policies_.find(std::string_view(name));
    if (found == policies_.end()) return Fault(place, Cat("there is no policy \"", name, "\""));
    return found->second;
  }

  absl::Status ReadKey(const element& json, const std::string& place) {
    AccessKey key;
    std::shared_ptr<const Policy> policy;
    ARM_RETURN_IF_ERROR(ForEachMember(json, place, [&](std::string_view name, const element& value) -> absl::Status {
      const std::string at = Member(place, name);
      if (name == "id") {
        ARM_ASSIGN_OR_RETURN(key.id, Text(value, at, kKeyId));
      } else if (name == "secret") {
        ARM_ASSIGN_OR_RETURN(key.secret, Text(value, at, kSecret));
      } else if (name == "secret_hash") {
        ARM_ASSIGN_OR_RETURN(const std::string text, Text(value, at, kHashText));
        absl::StatusOr<SecretHash> hash = SecretHash::Parse(text);
        if (!hash.ok()) return Fault(at, Sv(hash.status().message()));
        key.secret_hash = *std::move(hash);
      } else if (name == "policy") {
        ARM_ASSIGN_OR_RETURN(policy, FindPolicy(value, at));
      } else {
        return Fault(at, "is unknown; an access key has id, secret or secret_hash, and policy");
      }
      return absl::OkStatus();
    }));
    if (key.id.empty()) return Fault(place, "lacks id");
    if (policy == nullptr) return Fault(place, "lacks policy");
    if (key.secret.empty() != key.secret_hash.has_value()) return Fault(place, "must have one of secret, secret_hash");
    if (result_->keys_.contains(key.id)) return Fault(place, Cat("the id \"", key.id, "\" is there twice"));
    key.access = std::make_shared<PolicyAccess>(key.id, std::move(policy), log_);
    std::string id = key.id;
    result_->keys_.emplace(std::move(id), std::move(key));
    return absl::OkStatus();
  }

  absl::Status ReadCertificate(const element& json, const std::string& place) {
    std::string subject;
    std::shared_ptr<const Policy> policy;
    ARM_RETURN_IF_ERROR(ForEachMember(json, place, [&](std::string_view name, const element& value) -> absl::Status {
      const std::string at = Member(place, name);
      if (name == "name") {
        ARM_ASSIGN_OR_RETURN(subject, Text(value, at, kCertificateName));
      } else if (name == "policy") {
        ARM_ASSIGN_OR_RETURN(policy, FindPolicy(value, at));
      } else {
        return Fault(at, "is unknown; a certificate has name and policy");
      }
      return absl::OkStatus();
    }));
    if (subject.empty()) return Fault(place, "lacks name");
    if (policy == nullptr) return Fault(place, "lacks policy");
    // Logs, tokens of transactions and policies of tables know a principal by its name alone.
    if (result_->keys_.contains(subject)) {
      return Fault(place, Cat("the name \"", subject, "\" is the id of an access key, too"));
    }
    auto access = std::make_shared<PolicyAccess>(subject, std::move(policy), log_);
    if (!result_->certificates_.emplace(subject, std::move(access)).second) {
      return Fault(place, Cat("the name \"", subject, "\" is there twice"));
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<FailureLog> log_;
  std::unique_ptr<Credentials> result_;
  StringMap<std::shared_ptr<const Policy>> policies_;
};

absl::StatusOr<std::shared_ptr<const Credentials>> Credentials::Parse(std::string_view json,
                                                                      const std::shared_ptr<FailureLog>& log) {
  simdjson::dom::parser parser(kFileBytesMax);
  if (json.size() > kFileBytesMax) return Fault("", Cat("is larger than ", kFileBytesMax, " bytes"));
  // simdjson reads some bytes beyond the text.
  const simdjson::padded_string text(json);
  if (parser.allocate(kFileBytesMax, kDepthMax) != simdjson::SUCCESS) return Fault("", "no memory to read it");
  element root;
  if (const simdjson::error_code error = parser.parse(text).get(root); error != simdjson::SUCCESS) {
    return Fault("", Cat("is not JSON: ", simdjson::error_message(error)));
  }
  return CredentialsReader(log).Read(root);
}

absl::StatusOr<std::shared_ptr<const Credentials>> Credentials::Load(const std::string& path,
                                                                     const std::shared_ptr<FailureLog>& log) {
  ARM_ASSIGN_OR_RETURN(const std::string json, ReadPrivateFile(path, kFileBytesMax));
  absl::StatusOr<std::shared_ptr<const Credentials>> parsed = Parse(json, log);
  if (!parsed.ok()) return WithContext(parsed.status(), path);
  return parsed;
}

const AccessKey* Credentials::FindKey(std::string_view id) const {
  const auto found = keys_.find(id);
  return found == keys_.end() ? nullptr : &found->second;
}

std::shared_ptr<const Access> Credentials::FindCertificate(std::string_view name) const {
  const auto found = certificates_.find(name);
  return found == certificates_.end() ? nullptr : found->second;
}

}  // namespace armature::daemon
