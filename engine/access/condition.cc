#include "engine/access/condition.h"

#include <simdjson.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::access {
namespace {

using Operator = Condition::Operator;
using Quantifier = Condition::Quantifier;
using simdjson::dom::element;

constexpr struct {
  std::string_view name;
  Operator op;
} kOperators[] = {
    {"StringEquals", Operator::kEquals}, {"StringNotEquals", Operator::kNotEquals},
    {"StringLike", Operator::kLike},     {"StringNotLike", Operator::kNotLike},
    {"Bool", Operator::kBool},           {"Null", Operator::kNull},
};

// Longest part of a name in an error text.
constexpr size_t kShownMax = 100;

bool IsMultiValued(ConditionKey key) { return key == ConditionKey::kLeadingKeys || key == ConditionKey::kAttributes; }

bool TakePrefix(std::string_view prefix, std::string_view* name) {
  if (!absl::StartsWithIgnoreCase(Av(*name), Av(prefix))) return false;
  name->remove_prefix(prefix.size());
  return true;
}

// Reads "ForAllValues:StringLikeIfExists".
absl::StatusOr<Condition> ParseOperator(std::string_view text, const std::string& place) {
  constexpr std::string_view kIfExists = "IfExists";
  Condition made;
  std::string_view name = text;
  if (TakePrefix("ForAllValues:", &name)) {
    made.quantifier = Quantifier::kForAll;
  } else if (TakePrefix("ForAnyValue:", &name)) {
    made.quantifier = Quantifier::kForAny;
  }
  if (absl::EndsWithIgnoreCase(Av(name), Av(kIfExists))) {
    made.if_exists = true;
    name.remove_suffix(kIfExists.size());
  }
  const auto* const found = std::find_if(std::begin(kOperators), std::end(kOperators), [name](const auto& each) {
    return absl::EqualsIgnoreCase(Av(each.name), Av(name));
  });
  if (found == std::end(kOperators)) {
    return Fault(place,
                 "is not a supported operator; supported are StringEquals, StringNotEquals, StringLike, StringNotLike "
                 "and Bool, with ForAllValues:, ForAnyValue: and IfExists, and Null");
  }
  made.op = found->op;
  if (made.op == Operator::kNull && (made.if_exists || made.quantifier != Quantifier::kNone)) {
    return Fault(place, "Null takes neither IfExists nor ForAllValues: nor ForAnyValue:");
  }
  return made;
}

absl::StatusOr<std::string> ParseTruth(const element& json, const std::string& place) {
  bool truth = false;
  if (json.get(truth) == simdjson::SUCCESS) return std::string(truth ? "true" : "false");
  std::string_view text;
  if (json.get(text) == simdjson::SUCCESS) {
    for (const std::string_view each : {"true", "false"}) {
      if (absl::EqualsIgnoreCase(Av(text), Av(each))) return std::string(each);
    }
  }
  return Fault(place, "must be true or false");
}

absl::StatusOr<std::string> ParseText(const element& json, const std::string& place) {
  std::string_view text;
  if (json.get(text) != simdjson::SUCCESS) return Fault(place, "must be a string");
  if (text.size() > Conditions::kValueBytesMax) {
    return Fault(place, Cat("must have at most ", Conditions::kValueBytesMax, " bytes"));
  }
  if (text.find("${") != std::string_view::npos) return Fault(place, "policy variables are not supported");
  return std::string(text);
}

bool IsLike(const Condition& condition) {
  return condition.op == Operator::kLike || condition.op == Operator::kNotLike;
}

absl::Status ParseValues(const element& json, const std::string& place, Condition* condition) {
  const bool is_truth = condition->op == Operator::kBool || condition->op == Operator::kNull;
  size_t count = 0;
  ARM_RETURN_IF_ERROR(ForOneOrMore(
      json, place, Conditions::kValuesMax, [&](const std::string& at, const element& each) -> absl::Status {
        ARM_ASSIGN_OR_RETURN(std::string value, is_truth ? ParseTruth(each, at) : ParseText(each, at));
        ++count;
        if (IsLike(*condition)) {
          condition->patterns.Add(std::move(value));
        } else {
          condition->values.insert(std::move(value));
        }
        return absl::OkStatus();
      }));
  if (count == 0) return Fault(place, "must not be empty");
  if (condition->op == Operator::kNull && count > 1) return Fault(place, "must be true or false");
  return absl::OkStatus();
}

// True if the operator's positive form matches one of the values of the policy.
bool MatchesOne(const Condition& condition, std::string_view value, MatchWork* work) {
  if (IsLike(condition)) return condition.patterns.AnyMatches(value, work);
  return work->Take(1 + value.size() / sizeof(uint64_t)) && condition.values.contains(value);
}

bool IsNegated(const Condition& condition) {
  return condition.op == Operator::kNotEquals || condition.op == Operator::kNotLike;
}

bool HoldsWhenAbsent(const Condition& condition, Effect effect) {
  if (condition.if_exists) return true;
  if (effect == Effect::kAllow || condition.quantifier == Quantifier::kForAny) return false;
  return condition.quantifier == Quantifier::kForAll || IsNegated(condition);
}

bool Holds(const Condition& condition, Effect effect, const Facts& facts, MatchWork* work) {
  const std::vector<std::string>& present = facts[condition.key];
  if (condition.op == Operator::kNull) return present.empty() == condition.values.contains(std::string_view("true"));
  if (present.empty()) return HoldsWhenAbsent(condition, effect);
  const auto matches = [&condition, work](const std::string& value) {
    return MatchesOne(condition, value, work) != IsNegated(condition);
  };
  const bool needs_all = condition.quantifier == Quantifier::kNone ? effect == Effect::kAllow
                                                                   : condition.quantifier == Quantifier::kForAll;
  return needs_all ? std::all_of(present.begin(), present.end(), matches)
                   : std::any_of(present.begin(), present.end(), matches);
}

}  // namespace

absl::Status CheckPatternCount(size_t patterns) {
  if (patterns <= kPolicyPatternsMax) return absl::OkStatus();
  return Fault("", Cat("the conditions of the policy have more than ", kPolicyPatternsMax, " patterns with wildcards"));
}

absl::StatusOr<Conditions> Conditions::Parse(const element& json, const std::string& place) {
  Conditions made;
  ARM_RETURN_IF_ERROR(ForEachMember(json, place, [&](std::string_view name, const element& keys) -> absl::Status {
    const std::string at = Member(place, name.substr(0, kShownMax));
    ARM_ASSIGN_OR_RETURN(const Condition with_operator, ParseOperator(name, at));
    return ForEachMember(keys, at, [&](std::string_view key, const element& values) -> absl::Status {
      const std::string key_at = Member(at, key.substr(0, kShownMax));
      if (made.all_.size() >= kCountMax) return Fault(place, Cat("has more than ", kCountMax, " conditions"));
      const std::optional<ConditionKey> known = FindConditionKey(key);
      if (!known.has_value()) {
        return Fault(key_at,
                     "is not a supported condition key; supported are dynamodb:LeadingKeys, dynamodb:Attributes, "
                     "dynamodb:Select, dynamodb:ReturnValues, dynamodb:EnclosingOperation and dynamodb:FullTableScan");
      }
      Condition& condition = made.all_.emplace_back(with_operator);
      condition.key = *known;
      if (condition.op != Operator::kNull &&
          (condition.op == Operator::kBool) != (*known == ConditionKey::kFullTableScan)) {
        return Fault(key_at, "Bool is the operator of dynamodb:FullTableScan, and of no other key");
      }
      if (condition.quantifier != Quantifier::kNone && !IsMultiValued(*known)) {
        return Fault(key_at, "has one value: ForAllValues: and ForAnyValue: do not apply");
      }
      return ParseValues(values, key_at, &condition);
    });
  }));
  return made;
}

bool Conditions::Hold(Effect effect, LazyFacts* facts) const {
  if (all_.empty()) return true;
  const Facts* const known = facts->Get();
  if (known == nullptr) return effect == Effect::kDeny;
  return std::all_of(all_.begin(), all_.end(),
                     [&](const Condition& condition) { return Holds(condition, effect, *known, facts->work()); });
}

size_t Conditions::wildcards() const {
  size_t count = 0;
  for (const Condition& condition : all_) count += condition.patterns.wildcards();
  return count;
}

size_t Conditions::weight() const {
  size_t weight = all_.size();
  for (const Condition& condition : all_) weight += condition.patterns.weight();
  return weight;
}

size_t Conditions::heap_bytes() const {
  size_t bytes = all_.capacity() * sizeof(Condition);
  for (const Condition& condition : all_) bytes += HeapBytesOf(condition.values) + condition.patterns.heap_bytes();
  return bytes;
}

}  // namespace armature::access
