// Documents of resource policies: parser and evaluation. Input: a document, and perhaps a NUL byte and the value of the
// leading key.

#include <algorithm>
#include <string>
#include <string_view>

#include "engine/access/resource_policy.h"
#include "tests/fuzz/fuzz_util.h"
#include "tests/support/matches_pattern.h"

namespace armature::fuzz {
namespace {

using access::ResourcePolicy;
using access::Verdict;

// A document with this text has no chance to name the principal.
constexpr std::string_view kStranger = "nobody whom a policy names";

void CheckEvaluation(const ResourcePolicy& policy, std::string_view document, std::string_view leading) {
  const auto known = [leading]() -> absl::StatusOr<access::Facts> {
    access::Facts facts;
    facts[access::ConditionKey::kLeadingKeys] = {std::string(leading)};
    facts[access::ConditionKey::kAttributes] = {"id", "v"};
    return facts;
  };
  const auto unknown = []() -> absl::StatusOr<access::Facts> { return absl::InvalidArgumentError("no facts"); };
  for (const std::string_view index : {"", "by_date"}) {
    access::LazyFacts facts(known);
    access::LazyFacts no_facts(unknown);
    const Verdict verdict = policy.Evaluate("AKAPP", {"GetItem", "orders", index}, &facts);
    Check(verdict == policy.Evaluate("AKAPP", {"GetItem", "orders", index}, &facts),
          "the same request, another verdict");
    if (policy.Evaluate("AKAPP", {"GetItem", "orders", index}, &no_facts) == Verdict::kAllowed) {
      Check(verdict != Verdict::kSilent, "unknown facts permit no more than known ones");
    }
    const Verdict stranger = policy.Evaluate(kStranger, {"GetItem", "orders", index}, &facts);
    Check(stranger == Verdict::kSilent || document.find('*') != std::string_view::npos ||
              document.find('\\') != std::string_view::npos || document.find(kStranger) != std::string_view::npos,
          "only * means everybody");
  }
}

}  // namespace
}  // namespace armature::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = armature::fuzz::Text(data, size);
  const std::string_view document = input.substr(0, input.find('\0'));
  const std::string_view leading = input.substr(std::min(input.size(), document.size() + 1));
  const auto is_action = [](std::string_view pattern) {
    return armature::access::MatchesPattern(pattern, "GetItem") || armature::access::MatchesPattern(pattern, "PutItem");
  };
  const auto policy = armature::access::ResourcePolicy::Parse(document, {"orders"}, is_action);
  if (policy.ok()) armature::fuzz::CheckEvaluation(**policy, document, leading);
  return 0;
}
