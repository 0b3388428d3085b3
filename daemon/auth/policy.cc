#include "daemon/auth/policy.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kAdminPrefix = "admin:";

// Longer than any table name. An error text repeats no more than this.
constexpr size_t kTableNameMax = 255;

bool AnyMatches(const std::vector<std::string>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [text](const std::string& pattern) { return MatchesPattern(pattern, text); });
}

}  // namespace

std::string_view TableNameOf(std::string_view name_or_arn) {
  constexpr std::string_view kService = "dynamodb";
  constexpr std::string_view kTable = "table/";
  std::string_view rest = name_or_arn;
  std::string_view parts[5];  // arn, partition, service, region, account
  for (std::string_view& part : parts) {
    const size_t colon = rest.find(':');
    if (colon == std::string_view::npos) return name_or_arn;
    part = rest.substr(0, colon);
    rest.remove_prefix(colon + 1);
  }
  if (parts[0] != "arn" || parts[2] != kService || !rest.starts_with(kTable)) return name_or_arn;
  rest.remove_prefix(kTable.size());
  return rest.substr(0, rest.find('/'));
}

bool MatchesPattern(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  // Position after the last `*` in the pattern, and the end of the text that it matches so far.
  size_t star_pattern = std::string_view::npos;
  size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star_pattern = ++p;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star_pattern != std::string_view::npos) {
      p = star_pattern;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool Policy::Allows(std::string_view operation, std::string_view table) const {
  if (operation.starts_with(kAdminPrefix)) return admin;
  const std::string_view name = TableNameOf(table);
  return std::any_of(allow.begin(), allow.end(), [&](const Entry& entry) {
    const bool about = name.empty() ? std::find(entry.tables.begin(), entry.tables.end(), "*") != entry.tables.end()
                                    : AnyMatches(entry.tables, name);
    return about && AnyMatches(entry.operations, operation);
  });
}

absl::Status PolicyAccess::Check(std::string_view operation, std::string_view table) const {
  if (policy_->Allows(operation, table)) return absl::OkStatus();
  log_->Denied(principal_, operation, table, absl::Now());
  const std::string action = operation.starts_with(kAdminPrefix) ? std::string(operation) : Cat("dynamodb:", operation);
  const std::string_view name = TableNameOf(table);
  return AccessDeniedError(principal_, action,
                           name.empty() ? std::string("*") : Cat(kTableArnPrefix, name.substr(0, kTableNameMax)));
}

}  // namespace armature::daemon
