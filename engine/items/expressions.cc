#include "engine/items/expressions.h"

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/expr/condition_eval.h"
#include "engine/expr/legacy_binder.h"
#include "engine/items/constraints.h"
#include "engine/parts.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/codec/item_codec.h"
#include "storage/model/item_errors.h"
#include "storage/model/limits.h"
#include "storage/model/plain_item.h"

namespace armature::engine {
namespace {

// Length of AttributesToGet shown in error texts.
constexpr size_t kListShownMaxBytes = 1024;

void CheckAttributesToGet(const std::vector<std::string>& names, model::ConstraintList* list) {
  const std::string printed = model::PrintedValue(model::Shown(model::PrintedList(names), kListShownMaxBytes));
  list->CheckLengthMin(printed, names.size(), "attributesToGet", 1);
  list->CheckLengthMax(printed, names.size(), "attributesToGet", model::kAttributesToGetMax);
}

// An empty map is equivalent to an absent one.
template <class Entry>
std::span<const Entry> Entries(const std::optional<std::vector<Entry>>& map) {
  return map.has_value() ? std::span<const Entry>(*map) : std::span<const Entry>();
}

// "queryFilter.a.member.comparisonOperator"
std::string MemberPath(std::string_view parameter, std::string_view attribute, std::string_view member) {
  return Cat(parameter, ".", model::Shown(attribute), ".member.", member);
}

void CheckConditions(std::string_view parameter, std::span<const LegacyCondition> conditions,
                     model::ConstraintList* list) {
  for (const LegacyCondition& condition : conditions) {
    const std::string path = MemberPath(parameter, condition.attribute, "comparisonOperator");
    if (condition.comparison_operator.empty()) {
      list->AddNull(path);
    } else {
      list->CheckEnum(condition.comparison_operator, path, expr::kLegacyOperatorNames);
    }
  }
}

// Keeps the canonical values of legacy parameters.
struct LiteralSink {
  std::deque<std::string>* literals;
  ValidationLayer layer;
};

absl::StatusOr<model::ValueView> TakeValue(const std::string& wire, const LiteralSink& literals) {
  ARM_ASSIGN_OR_RETURN(std::string canonical, codec::CanonicalizeValue(wire, ValueTextsOf(literals.layer)));
  literals.literals->push_back(std::move(canonical));
  return *model::ValueView::FromWire(literals.literals->back());
}

absl::Status TakeOptionalValue(const std::optional<std::string>& wire, const LiteralSink& literals,
                               std::optional<model::ValueView>* value) {
  if (!wire.has_value()) return absl::OkStatus();
  ARM_ASSIGN_OR_RETURN(*value, TakeValue(*wire, literals));
  return absl::OkStatus();
}

absl::Status TakeValues(const std::vector<std::string>& wires, const LiteralSink& literals,
                        std::vector<model::ValueView>* values) {
  for (const std::string& wire : wires) {
    ARM_ASSIGN_OR_RETURN(const model::ValueView value, TakeValue(wire, literals));
    values->push_back(value);
  }
  return absl::OkStatus();
}

absl::Status TakeConditions(std::span<const LegacyCondition> from, const LiteralSink& literals,
                            std::vector<expr::LegacyCondition>* to) {
  for (const LegacyCondition& condition : from) {
    ARM_RETURN_IF_ERROR(model::CheckAttributeName(condition.attribute));
    expr::LegacyCondition taken;
    taken.attribute = condition.attribute;
    taken.op = *expr::LegacyOperatorByName(condition.comparison_operator);
    ARM_RETURN_IF_ERROR(TakeValues(condition.argument_wires, literals, &taken.arguments));
    to->push_back(std::move(taken));
  }
  return absl::OkStatus();
}

absl::Status BindUpdates(std::span<const LegacyUpdate> from, const LiteralSink& literals,
                         expr::BoundExpressions* bound) {
  std::vector<expr::LegacyUpdate> updates;
  for (const LegacyUpdate& update : from) {
    ARM_RETURN_IF_ERROR(model::CheckAttributeName(update.attribute));
    expr::LegacyUpdate taken;
    taken.attribute = update.attribute;
    taken.action = expr::LegacyActionByName(update.action).value_or(expr::LegacyAction::kPut);
    ARM_RETURN_IF_ERROR(TakeOptionalValue(update.value_wire, literals, &taken.value));
    updates.push_back(std::move(taken));
  }
  ARM_ASSIGN_OR_RETURN(bound->update, expr::BindAttributeUpdates(updates));
  return absl::OkStatus();
}

absl::Status TakeExpectations(std::span<const LegacyExpectation> from, const LiteralSink& literals,
                              std::vector<expr::LegacyExpectation>* to) {
  for (const LegacyExpectation& expected : from) {
    ARM_RETURN_IF_ERROR(model::CheckAttributeName(expected.attribute));
    expr::LegacyExpectation taken;
    taken.attribute = expected.attribute;
    taken.op = expr::LegacyOperatorByName(expected.comparison_operator);
    taken.exists = expected.exists;
    ARM_RETURN_IF_ERROR(TakeOptionalValue(expected.value_wire, literals, &taken.value));
    if (expected.argument_wires.has_value()) {
      ARM_RETURN_IF_ERROR(TakeValues(*expected.argument_wires, literals, &taken.arguments.emplace()));
    }
    to->push_back(std::move(taken));
  }
  return absl::OkStatus();
}

std::span<const LegacyCondition> FilterOf(const LegacyParameters& legacy) {
  return Entries(legacy.query_filter.has_value() ? legacy.query_filter : legacy.scan_filter);
}

// Checks that ConditionalOperator has conditions to join. An operation has either Expected or a filter.
absl::Status CheckJoinsConditions(const LegacyParameters& legacy) {
  if (legacy.conditional_operator.empty()) return absl::OkStatus();
  const size_t conditions = Entries(legacy.expected).size() + FilterOf(legacy).size();
  if (conditions == 0) return ValidationError("ConditionalOperator cannot be used without Filter or Expected");
  if (conditions > 1) return absl::OkStatus();
  return ValidationError("ConditionalOperator can only be used when Filter or Expected has two or more elements");
}

absl::Status CheckConditionalOperator(const LegacyParameters& legacy) {
  ARM_RETURN_IF_ERROR(CheckJoinsConditions(legacy));
  model::ConstraintList word;
  CheckConditionalOperatorWord(legacy, &word);
  if (word.empty()) return absl::OkStatus();
  return ValidationError("Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]");
}

// Checks and binds all legacy parameters except KeyConditions, in the documented order: AttributeUpdates, Expected,
// QueryFilter or ScanFilter, AttributesToGet. Requires shapes without violations. Values in `bound` point into the
// deque of `literals`, which gets canonical values.
absl::Status BindLegacy(const LegacyParameters& legacy, const LiteralSink& literals, expr::BoundExpressions* bound) {
  if (const auto updates = Entries(legacy.attribute_updates); !updates.empty()) {
    ARM_RETURN_IF_ERROR(BindUpdates(updates, literals, bound));
  }
  std::vector<expr::LegacyExpectation> expectations;
  ARM_RETURN_IF_ERROR(TakeExpectations(Entries(legacy.expected), literals, &expectations));
  std::vector<expr::LegacyCondition> conditions;
  ARM_RETURN_IF_ERROR(TakeConditions(FilterOf(legacy), literals, &conditions));
  // The other layers have made this check before they read the values.
  if (!RulesOf(literals.layer).short_enums) ARM_RETURN_IF_ERROR(CheckJoinsConditions(legacy));
  const auto kind = legacy.conditional_operator == "OR" ? expr::Junction::Kind::kOr : expr::Junction::Kind::kAnd;
  if (!expectations.empty()) {
    ARM_ASSIGN_OR_RETURN(bound->condition, expr::BindExpected(expectations, kind));
  }
  if (!conditions.empty()) {
    ARM_ASSIGN_OR_RETURN(bound->filter, expr::BindLegacyFilter(conditions, kind));
  }
  if (legacy.attributes_to_get.has_value()) {
    for (const std::string& name : *legacy.attributes_to_get) ARM_RETURN_IF_ERROR(model::CheckAttributeName(name));
    ARM_ASSIGN_OR_RETURN(bound->projection, expr::BindAttributesToGet(*legacy.attributes_to_get));
  }
  return absl::OkStatus();
}

std::string Join(const std::vector<std::string_view>& names) {
  std::string joined;
  for (const std::string_view name : names) joined += Cat(joined.empty() ? "" : ", ", name);
  return joined;
}

absl::Status CheckNoMix(const ExpressionParameters& parameters) {
  const LegacyParameters& legacy = parameters.legacy;
  std::vector<std::string_view> expressions;
  if (parameters.update.has_value()) expressions.emplace_back("UpdateExpression");
  if (parameters.condition.has_value()) expressions.emplace_back("ConditionExpression");
  if (parameters.projection.has_value()) expressions.emplace_back("ProjectionExpression");
  if (parameters.filter.has_value()) expressions.emplace_back("FilterExpression");
  if (parameters.key_condition.has_value()) expressions.emplace_back("KeyConditionExpression");
  if (expressions.empty()) return absl::OkStatus();
  std::vector<std::string_view> others;
  if (legacy.attributes_to_get.has_value()) others.emplace_back("AttributesToGet");
  if (legacy.attribute_updates.has_value()) others.emplace_back("AttributeUpdates");
  if (legacy.expected.has_value()) others.emplace_back("Expected");
  if (legacy.query_filter.has_value()) others.emplace_back("QueryFilter");
  if (legacy.scan_filter.has_value()) others.emplace_back("ScanFilter");
  if (!legacy.conditional_operator.empty()) others.emplace_back("ConditionalOperator");
  if (legacy.key_conditions.has_value() && parameters.key_condition.has_value()) others.emplace_back("KeyConditions");
  if (others.empty()) return absl::OkStatus();
  return ValidationError(
      Cat("Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {",
          Join(others), "} Expression parameters: {", Join(expressions), "}"));
}

bool HasExpressionParameters(const ExpressionParameters& parameters) {
  return parameters.update.has_value() || parameters.condition.has_value() || parameters.key_condition.has_value() ||
         parameters.filter.has_value() || parameters.projection.has_value() || parameters.names.has_value() ||
         parameters.values_wire.has_value();
}

absl::Status BindTexts(const ExpressionParameters& parameters, std::span<const expr::ExpressionKind> known_kinds,
                       ValidationLayer layer, expr::ParseCache* cache, RequestExpressions* result) {
  result->placeholders.names = parameters.names;
  result->placeholders.wording = WordingOf(layer);
  if (parameters.values_wire.has_value()) {
    absl::StatusOr<codec::CanonicalItem> values =
        codec::CanonicalizeExpressionValues(*parameters.values_wire, ValueTextsOf(layer));
    if (!values.ok()) {
      ARM_RETURN_IF_ERROR(expr::CheckBeforeValues(parameters, result->placeholders, known_kinds));
      return values.status();
    }
    result->values = std::move(values->bytes);
    result->placeholders.values = model::ItemView(result->values);
  }
  ARM_ASSIGN_OR_RETURN(result->bound, expr::BindExpressions(parameters, result->placeholders, known_kinds, cache));
  return absl::OkStatus();
}

}  // namespace

void CheckLegacyShapes(const LegacyParameters& legacy, const LayerRules& rules, model::ConstraintList* list) {
  if (legacy.empty()) return;
  if (legacy.attributes_to_get.has_value()) CheckAttributesToGet(*legacy.attributes_to_get, list);
  for (const LegacyUpdate& update : Entries(legacy.attribute_updates)) {
    CheckOptionalEnum(update.action, MemberPath("attributeUpdates", update.attribute, "action"),
                      expr::kLegacyActionNames, list);
  }
  for (const LegacyExpectation& expected : Entries(legacy.expected)) {
    CheckOptionalEnum(expected.comparison_operator, MemberPath("expected", expected.attribute, "comparisonOperator"),
                      expr::kLegacyOperatorNames, list);
  }
  CheckConditions("keyConditions", Entries(legacy.key_conditions), list);
  CheckConditions("queryFilter", Entries(legacy.query_filter), list);
  CheckConditions("scanFilter", Entries(legacy.scan_filter), list);
  if (!rules.short_enums) CheckConditionalOperatorWord(legacy, list);
}

void CheckConditionalOperatorWord(const LegacyParameters& legacy, model::ConstraintList* list) {
  CheckOptionalEnum(legacy.conditional_operator, "conditionalOperator", expr::kConditionalOperatorNames, list);
}

absl::Status CheckParameterStyles(const ExpressionParameters& parameters, ValidationLayer layer) {
  const LegacyParameters& legacy = parameters.legacy;
  if (legacy.empty()) return absl::OkStatus();
  ARM_RETURN_IF_ERROR(CheckNoMix(parameters));
  return RulesOf(layer).short_enums ? CheckConditionalOperator(legacy) : absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<RequestExpressions>> BindLegacyParameters(const ExpressionParameters& parameters,
                                                                         ValidationLayer layer) {
  if (parameters.legacy.empty()) return nullptr;
  auto result = std::make_unique<RequestExpressions>();
  ARM_RETURN_IF_ERROR(BindLegacy(parameters.legacy, {&result->literals, layer}, &result->bound));
  return result;
}

absl::Status BindExpressionParameters(const ExpressionParameters& parameters,
                                      std::span<const expr::ExpressionKind> known_kinds, ValidationLayer layer,
                                      expr::ParseCache* cache, std::unique_ptr<RequestExpressions>* expressions) {
  const bool none = !HasExpressionParameters(parameters);
  if (none && !parameters.legacy.key_conditions.has_value()) return absl::OkStatus();
  if (*expressions == nullptr) *expressions = std::make_unique<RequestExpressions>();
  RequestExpressions& result = **expressions;
  std::vector<expr::LegacyCondition> key_conditions;
  ARM_RETURN_IF_ERROR(
      TakeConditions(Entries(parameters.legacy.key_conditions), {&result.literals, layer}, &key_conditions));
  ARM_RETURN_IF_ERROR(expr::CheckLegacyConditions(key_conditions));
  // After CheckParameterStyles, legacy parameters and expressions cannot set the same member of `result`.
  if (!none) ARM_RETURN_IF_ERROR(BindTexts(parameters, known_kinds, layer, cache, &result));
  // The operators allowed on keys are checked after the expressions were parsed.
  if (key_conditions.empty()) return absl::OkStatus();
  ARM_ASSIGN_OR_RETURN(result.bound.key_condition, expr::BindKeyConditions(key_conditions));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<RequestExpressions>> BindRequestExpressions(
    const ExpressionParameters& parameters, std::span<const expr::ExpressionKind> known_kinds, ValidationLayer layer,
    expr::ParseCache* cache) {
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<RequestExpressions> result, BindLegacyParameters(parameters, layer));
  ARM_RETURN_IF_ERROR(BindExpressionParameters(parameters, known_kinds, layer, cache, &result));
  return result;
}

absl::Status CheckKeysAreWhole(const RequestExpressions* expressions, const model::KeySchema& keys, bool index_keys) {
  if (expressions == nullptr) return absl::OkStatus();
  const expr::BoundExpressions& bound = expressions->bound;
  if (bound.projection.has_value()) {
    ARM_RETURN_IF_ERROR(expr::CheckKeysAreWhole(*bound.projection, keys, index_keys));
  }
  return bound.filter.has_value() ? expr::CheckKeysAreWhole(*bound.filter, keys, index_keys) : absl::OkStatus();
}

std::string AnsweredBytes(std::string canonical, bool compact_numbers) {
  return compact_numbers ? model::PlainItem(canonical) : std::move(canonical);
}

bool IsLongToAnswer(std::string_view stored) {
  return stored.size() > kInlineBytesMax / model::kPlainGrowthMax && !codec::IsSimpleItem(stored);
}

ItemBytes AnsweredItem(const RequestExpressions* expressions, const codec::StoredItemView& item, std::string stored) {
  if (expressions != nullptr && expressions->bound.projection.has_value()) {
    return {AnsweredBytes(expr::Project(*expressions->bound.projection, item.item), item.compact_numbers), 0};
  }
  if (item.compact_numbers) return {model::PlainItem(item.item.bytes()), 0};
  const size_t head = stored.size() - item.item.bytes().size();
  return {std::move(stored), head};
}

}  // namespace armature::engine
