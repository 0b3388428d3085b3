#include "engine/expressions.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/codec/item_codec.h"

namespace armature::engine {
namespace {

std::optional<std::string_view> View(const std::optional<std::string>& text) {
  if (!text.has_value()) return std::nullopt;
  return std::string_view(*text);
}

}  // namespace

absl::Status CheckParameterStyles(const ExpressionParameters& parameters) {
  if (parameters.legacy.empty()) return absl::OkStatus();
  std::vector<std::string> expressions;
  if (parameters.update.has_value()) expressions.emplace_back("UpdateExpression");
  if (parameters.projection.has_value()) expressions.emplace_back("ProjectionExpression");
  if (parameters.filter.has_value()) expressions.emplace_back("FilterExpression");
  if (parameters.condition.has_value()) expressions.emplace_back("ConditionExpression");
  if (parameters.key_condition.has_value()) expressions.emplace_back("KeyConditionExpression");
  const std::string legacy = absl::StrJoin(parameters.legacy, ", ");
  if (!expressions.empty()) {
    return ValidationError(Cat(
        "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {",
        legacy, "} Expression parameters: {", absl::StrJoin(expressions, ", "), "}"));
  }
  return UnknownOperationError(
      Cat("The old-style parameters are not available in this version; use expressions instead of ", legacy));
}

absl::StatusOr<std::unique_ptr<RequestExpressions>> BindRequestExpressions(
    const ExpressionParameters& parameters, std::span<const expr::ExpressionKind> known_kinds) {
  if (!parameters.update.has_value() && !parameters.condition.has_value() && !parameters.key_condition.has_value() &&
      !parameters.filter.has_value() && !parameters.projection.has_value() && !parameters.names.has_value() &&
      !parameters.values_wire.has_value()) {
    return nullptr;
  }
  auto result = std::make_unique<RequestExpressions>();
  if (parameters.values_wire.has_value()) {
    ARM_ASSIGN_OR_RETURN(codec::CanonicalItem values, codec::CanonicalizeExpressionValues(*parameters.values_wire));
    result->values = std::move(values.bytes);
    result->placeholders.values = model::ItemView(result->values);
  }
  result->placeholders.names = parameters.names;
  expr::RequestExpressions texts;
  texts.update = View(parameters.update);
  texts.condition = View(parameters.condition);
  texts.key_condition = View(parameters.key_condition);
  texts.filter = View(parameters.filter);
  texts.projection = View(parameters.projection);
  ARM_ASSIGN_OR_RETURN(result->bound, expr::BindExpressions(texts, result->placeholders, known_kinds));
  return result;
}

}  // namespace armature::engine
