#ifndef ARMATURE_ENGINE_EXPR_BINDER_H_
#define ARMATURE_ENGINE_EXPR_BINDER_H_

// Entry point of this layer: parses, binds and checks the expressions of a request.
//
// Source: the DynamoDB developer guide, "Using expressions in DynamoDB".

#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "engine/expr/ast.h"
#include "engine/expr/key_condition.h"
#include "engine/expr/parse_cache.h"
#include "engine/expr/placeholders.h"
#include "engine/expr/projection.h"

namespace armature::expr {

// The expressions of one request, parsed, bound and checked. Move-only.
//
// Lifetime: values point into the bytes of Placeholders::values; nothing points into the texts.
struct BoundExpressions {
  std::optional<Update> update;
  std::optional<Condition> condition;
  std::optional<KeyCondition> key_condition;
  std::optional<Condition> filter;
  std::optional<Projection> projection;
  size_t replaced_bytes = 0;  // of all names that stand in place of placeholders
};

// The kinds of expressions that each operation accepts, in the order in which errors list them.
inline constexpr ExpressionKind kGetKinds[] = {ExpressionKind::kProjection};
inline constexpr ExpressionKind kPutKinds[] = {ExpressionKind::kCondition};
inline constexpr ExpressionKind kDeleteKinds[] = {ExpressionKind::kCondition};
inline constexpr ExpressionKind kUpdateKinds[] = {ExpressionKind::kUpdate, ExpressionKind::kCondition};
inline constexpr ExpressionKind kQueryKinds[] = {ExpressionKind::kProjection, ExpressionKind::kFilter,
                                                 ExpressionKind::kKeyCondition};
inline constexpr ExpressionKind kScanKinds[] = {ExpressionKind::kProjection, ExpressionKind::kFilter};

// Makes all checks of expressions that need no table.
//
// Errors: ValidationException, the first of: placeholders without expressions; empty or malformed placeholder
// parameters; a fault in an expression (update, condition, key condition, filter, projection, in this order; in each,
// syntax errors first, then the documented order of static checks); unused names, unused values; terms not allowed in
// key conditions. Limits: kExpressionMaxBytes per text, so parsing is bounded in time and depth. `cache`: parsed trees,
// or null.
absl::StatusOr<BoundExpressions> BindExpressions(const ExpressionTexts& expressions, const Placeholders& placeholders,
                                                 std::span<const ExpressionKind> known_kinds,
                                                 ParseCache* cache = nullptr);

// The checks of BindExpressions that precede those of the values. For requests with malformed values: errors found here
// are reported instead. `names`: placeholders without values.
absl::Status CheckBeforeValues(const ExpressionTexts& expressions, const Placeholders& names,
                               std::span<const ExpressionKind> known_kinds);

// The errors that BindExpressions finds in the texts alone: syntax, size, nesting of the expressions.
absl::Status CheckSyntax(const ExpressionTexts& expressions, const Placeholders::Wording& wording);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_BINDER_H_
