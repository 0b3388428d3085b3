#ifndef ARMATURE_ENGINE_ITEMS_EXPRESSIONS_H_
#define ARMATURE_ENGINE_ITEMS_EXPRESSIONS_H_

// From the expression parameters of a request, or those from before expressions, to bound expressions.

#include <deque>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "engine/expr/binder.h"
#include "engine/items/request.h"

namespace armature::engine {

// Bound expressions and what they point into.
struct RequestExpressions {
  std::string values;  // canonical item bytes
  expr::Placeholders placeholders;
  std::deque<std::string> literals;  // canonical values of legacy parameters, each where it stays
  expr::BoundExpressions bound;
};

// Refuses the mix of legacy and expression parameters, but for KeyConditions beside a filter or projection expression.
absl::Status CheckParameterStyles(const ExpressionParameters& parameters);

// Checks and binds. Null if the request has no such parameter at all, which most have not. Requires that shapes
// (legacy.h) and styles have been checked. `cache` may be null.
// Errors: ValidationException, in the documented order: first the rules of legacy parameters, then expressions.
absl::StatusOr<std::unique_ptr<RequestExpressions>> BindRequestExpressions(
    const ExpressionParameters& parameters, std::span<const expr::ExpressionKind> known_kinds, expr::ParseCache* cache);

// The same in two steps, for operations that have checks in between: the legacy parameters except KeyConditions; then
// KeyConditions and expressions, which go to `expressions` as well.
absl::StatusOr<std::unique_ptr<RequestExpressions>> BindLegacyParameters(const ExpressionParameters& parameters);
absl::Status BindExpressionParameters(const ExpressionParameters& parameters,
                                      std::span<const expr::ExpressionKind> known_kinds, expr::ParseCache* cache,
                                      std::unique_ptr<RequestExpressions>* expressions);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_EXPRESSIONS_H_
