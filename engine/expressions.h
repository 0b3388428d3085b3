#ifndef ARMATURE_ENGINE_EXPRESSIONS_H_
#define ARMATURE_ENGINE_EXPRESSIONS_H_

// From the expression parameters of a request to bound expressions.

#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "engine/expr/binder.h"
#include "engine/request.h"

namespace armature::engine {

// Bound expressions and what they point into.
struct RequestExpressions {
  std::string values;  // canonical item bytes
  expr::Placeholders placeholders;
  expr::BoundExpressions bound;
};

// Refuses the mix of old-style and expression parameters, and old-style parameters by themselves, which this version
// does not have. `legacy_order` and `expression_order` name an operation's parameters in the documented order.
absl::Status CheckParameterStyles(const ExpressionParameters& parameters);

// Checks and binds. Null if the request has no expression parameter at all, which most have not.
// Errors: ValidationException, in the documented order.
absl::StatusOr<std::unique_ptr<RequestExpressions>> BindRequestExpressions(
    const ExpressionParameters& parameters, std::span<const expr::ExpressionKind> known_kinds);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_EXPRESSIONS_H_
