#include "engine/access/facts.h"

#include "absl/strings/match.h"
#include "storage/base/strings.h"

namespace armature::access {
namespace {

constexpr std::array<std::string_view, kConditionKeyCount> kNames = {
    "dynamodb:LeadingKeys",  "dynamodb:Attributes",         "dynamodb:Select",
    "dynamodb:ReturnValues", "dynamodb:EnclosingOperation", "dynamodb:FullTableScan"};

}  // namespace

std::string_view ConditionKeyName(ConditionKey key) { return kNames[static_cast<size_t>(key)]; }

std::optional<ConditionKey> FindConditionKey(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (absl::EqualsIgnoreCase(Av(kNames[i]), Av(name))) return static_cast<ConditionKey>(i);
  }
  return std::nullopt;
}

absl::StatusOr<Facts> NoFacts() { return Facts(); }

}  // namespace armature::access
