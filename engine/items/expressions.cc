#include "engine/items/expressions.h"

#include <utility>
#include <vector>

#include "engine/expr/legacy_binder.h"
#include "engine/items/legacy_parameters.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/codec/item_codec.h"

namespace armature::engine {
namespace {

std::optional<std::string_view> View(const std::optional<std::string>& text) {
  if (!text.has_value()) return std::nullopt;
  return std::string_view(*text);
}

std::string Join(const std::vector<std::string_view>& names) {
  std::string joined;
  for (const std::string_view name : names) joined += Cat(joined.empty() ? "" : ", ", name);
  return joined;
}

bool HasExpressionParameters(const ExpressionParameters& parameters) {
  return parameters.update.has_value() || parameters.condition.has_value() || parameters.key_condition.has_value() ||
         parameters.filter.has_value() || parameters.projection.has_value() || parameters.names.has_value() ||
         parameters.values_wire.has_value();
}

absl::Status BindTexts(const ExpressionParameters& parameters, std::span<const expr::ExpressionKind> known_kinds,
                       expr::ParseCache* cache, RequestExpressions* result) {
  result->placeholders.names = parameters.names;
  expr::RequestExpressions texts;
  texts.update = View(parameters.update);
  texts.condition = View(parameters.condition);
  texts.key_condition = View(parameters.key_condition);
  texts.filter = View(parameters.filter);
  texts.projection = View(parameters.projection);
  if (parameters.values_wire.has_value()) {
    absl::StatusOr<codec::CanonicalItem> values = codec::CanonicalizeExpressionValues(*parameters.values_wire);
    if (!values.ok()) {
      ARM_RETURN_IF_ERROR(expr::CheckBeforeValues(texts, result->placeholders, known_kinds));
      return values.status();
    }
    result->values = std::move(values->bytes);
    result->placeholders.values = model::ItemView(result->values);
  }
  ARM_ASSIGN_OR_RETURN(result->bound, expr::BindExpressions(texts, result->placeholders, known_kinds, cache));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckParameterStyles(const ExpressionParameters& parameters) {
  const LegacyParameters& legacy = parameters.legacy;
  if (legacy.empty()) return absl::OkStatus();
  std::vector<std::string_view> expressions;
  if (parameters.update.has_value()) expressions.emplace_back("UpdateExpression");
  if (parameters.condition.has_value()) expressions.emplace_back("ConditionExpression");
  const bool writes = !expressions.empty();
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
  // For writes, ConditionalOperator has a separate rule.
  if (!legacy.conditional_operator.empty() && !writes) others.emplace_back("ConditionalOperator");
  if (legacy.key_conditions.has_value() && parameters.key_condition.has_value()) others.emplace_back("KeyConditions");
  if (others.empty()) return absl::OkStatus();
  return ValidationError(
      Cat("Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {",
          Join(others), "} Expression parameters: {", Join(expressions), "}"));
}

absl::StatusOr<std::unique_ptr<RequestExpressions>> BindLegacyParameters(const ExpressionParameters& parameters) {
  if (parameters.legacy.empty()) return nullptr;
  auto result = std::make_unique<RequestExpressions>();
  ARM_RETURN_IF_ERROR(BindLegacy(parameters.legacy, &result->literals, &result->bound));
  return result;
}

absl::Status BindExpressionParameters(const ExpressionParameters& parameters,
                                      std::span<const expr::ExpressionKind> known_kinds, expr::ParseCache* cache,
                                      std::unique_ptr<RequestExpressions>* expressions) {
  const bool none = !HasExpressionParameters(parameters);
  if (none && !parameters.legacy.key_conditions.has_value()) return absl::OkStatus();
  if (*expressions == nullptr) *expressions = std::make_unique<RequestExpressions>();
  RequestExpressions& result = **expressions;
  std::vector<expr::LegacyCondition> key_conditions;
  ARM_RETURN_IF_ERROR(TakeLegacyKeyConditions(parameters.legacy, &result.literals, &key_conditions));
  // After CheckParameterStyles, legacy parameters and expressions cannot set the same member of `result`.
  if (!none) ARM_RETURN_IF_ERROR(BindTexts(parameters, known_kinds, cache, &result));
  return BindLegacyKeyConditions(key_conditions, &result.bound);
}

absl::StatusOr<std::unique_ptr<RequestExpressions>> BindRequestExpressions(
    const ExpressionParameters& parameters, std::span<const expr::ExpressionKind> known_kinds,
    expr::ParseCache* cache) {
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<RequestExpressions> result, BindLegacyParameters(parameters));
  ARM_RETURN_IF_ERROR(BindExpressionParameters(parameters, known_kinds, cache, &result));
  return result;
}

ItemBytes AnsweredItem(const RequestExpressions* expressions, const model::ItemView& item, std::string stored) {
  if (expressions != nullptr && expressions->bound.projection.has_value()) {
    return {expr::Project(*expressions->bound.projection, item), 0};
  }
  const size_t head = stored.size() - item.bytes().size();
  return {std::move(stored), head};
}

}  // namespace armature::engine
