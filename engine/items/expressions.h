#ifndef ARMATURE_ENGINE_ITEMS_EXPRESSIONS_H_
#define ARMATURE_ENGINE_ITEMS_EXPRESSIONS_H_

// Binds the expression parameters, or the legacy parameters, of a request.

#include <deque>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "engine/expr/binder.h"
#include "engine/items/request.h"

namespace armature::engine {

// Bound expressions and the data they point into.
struct RequestExpressions {
  std::string values;  // canonical item bytes
  expr::Placeholders placeholders;
  std::deque<std::string> literals;  // canonical values of legacy parameters, at stable addresses
  expr::BoundExpressions bound;
};

// Refuses a mix of legacy and expression parameters. KeyConditions with a filter or projection expression is allowed.
absl::Status CheckParameterStyles(const ExpressionParameters& parameters);

// Checks and binds all parameters. Null if the request has none. Requires that shapes (legacy_parameters.h) and styles
// have been checked. `cache` may be null. Errors: ValidationException, in the documented order: legacy parameters
// first, then expressions.
absl::StatusOr<std::unique_ptr<RequestExpressions>> BindRequestExpressions(
    const ExpressionParameters& parameters, std::span<const expr::ExpressionKind> known_kinds, expr::ParseCache* cache);

// The same in two steps, for operations with checks in between: first the legacy parameters except KeyConditions, then
// KeyConditions and expressions, which are added to `expressions`.
absl::StatusOr<std::unique_ptr<RequestExpressions>> BindLegacyParameters(const ExpressionParameters& parameters);
absl::Status BindExpressionParameters(const ExpressionParameters& parameters,
                                      std::span<const expr::ExpressionKind> known_kinds, expr::ParseCache* cache,
                                      std::unique_ptr<RequestExpressions>* expressions);

// The item of an answer: all of `item` without a copy, or the projection of `expressions` if there is one. `stored`:
// the bytes that `item` points into.
ItemBytes AnsweredItem(const RequestExpressions* expressions, const model::ItemView& item, std::string stored);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_EXPRESSIONS_H_
