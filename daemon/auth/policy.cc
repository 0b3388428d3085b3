#include "daemon/auth/policy.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "engine/access/resource_policy.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kAdminPrefix = "admin:";
constexpr std::string_view kIndexInfix = "/index/";

// Longer than any table name. An error text repeats no more than this.
constexpr size_t kTableNameMax = 255;

bool Names(const Policy::Entry& entry, access::Effect effect, std::string_view table, std::string_view index,
           access::MatchWork* work) {
  if (table.empty()) return entry.tables.has_star();
  const bool needs_index = !index.empty() && effect == access::Effect::kAllow && !entry.condition.empty();
  if (!needs_index && entry.tables.AnyMatches(table, work)) return true;
  return !index.empty() && entry.tables.AnyMatches(Cat(table, kIndexInfix, index), work);
}

bool Applies(const Policy::Entry& entry, access::Effect effect, const access::Request& request, std::string_view table,
             access::LazyFacts* facts) {
  return entry.operations.AnyMatches(request.operation, facts->work()) &&
         Names(entry, effect, table, access::ComparedName(request.index), facts->work()) &&
         entry.condition.Hold(effect, facts);
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

access::Verdict Policy::Evaluate(const access::Request& request, access::LazyFacts* facts) const {
  if (request.operation.starts_with(kAdminPrefix)) return admin ? access::Verdict::kAllowed : access::Verdict::kSilent;
  const std::string_view table = access::ComparedName(TableNameOf(request.table));
  const auto any = [&](const std::vector<Entry>& entries, access::Effect effect) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const Entry& entry) { return Applies(entry, effect, request, table, facts); });
  };
  const bool is_denied = any(deny, access::Effect::kDeny);
  const bool is_allowed = !is_denied && any(allow, access::Effect::kAllow);
  if (is_denied || facts->work()->is_spent()) return access::Verdict::kDenied;
  return is_allowed ? access::Verdict::kAllowed : access::Verdict::kSilent;
}

size_t Policy::wildcards() const {
  size_t count = 0;
  for (const std::vector<Entry>* const entries : {&allow, &deny}) {
    for (const Entry& entry : *entries) count += entry.condition.wildcards();
  }
  return count;
}

access::MatchWeight Policy::weight() const {
  access::MatchWeight sum;
  for (const std::vector<Entry>* const entries : {&allow, &deny}) {
    for (const Entry& entry : *entries) {
      sum = sum + access::MatchWeight{.values = entry.condition.weight(),
                                      .names = entry.operations.weight() + entry.tables.weight()};
    }
  }
  return sum;
}

bool PolicyAccess::Permits(const access::Request& request) const {
  access::LazyFacts facts(request.facts, request.work);
  const access::Verdict own = policy_->Evaluate(request, &facts);
  if (own == access::Verdict::kDenied) return false;
  const bool is_allowed = own == access::Verdict::kAllowed;
  // The admin service is not about resources that others may grant.
  if (request.resource_policy == nullptr || request.operation.starts_with(kAdminPrefix)) return is_allowed;
  if (is_allowed && policy_->admin && access::IsPolicyOperation(request.operation)) return true;
  const access::Verdict resource = request.resource_policy->Evaluate(principal_, request, &facts);
  return resource != access::Verdict::kDenied && (is_allowed || resource == access::Verdict::kAllowed);
}

absl::Status PolicyAccess::Check(const access::Request& request) const {
  if (Permits(request)) return absl::OkStatus();
  const std::string_view operation = request.operation;
  log_->Denied(principal_, operation, request.table, absl::Now());
  const std::string action = operation.starts_with(kAdminPrefix) ? std::string(operation) : Cat("dynamodb:", operation);
  const std::string_view name = TableNameOf(request.table);
  std::string resource = name.empty() ? "*" : Cat(kTableArnPrefix, name.substr(0, kTableNameMax));
  if (!name.empty() && !request.index.empty()) resource += Cat(kIndexInfix, request.index.substr(0, kTableNameMax));
  return AccessDeniedError(principal_, action, resource);
}

}  // namespace armature::daemon
