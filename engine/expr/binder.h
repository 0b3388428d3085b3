#ifndef ARMATURE_ENGINE_EXPR_BINDER_H_
#define ARMATURE_ENGINE_EXPR_BINDER_H_

// From the expressions of a request to checked trees: the entrance of this layer.
//
// Source: the DynamoDB developer guide, "Using expressions in DynamoDB".

#include <optional>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/expr/ast.h"
#include "engine/expr/key_condition.h"
#include "engine/expr/kind.h"
#include "engine/expr/parse_cache.h"
#include "engine/expr/placeholders.h"
#include "engine/expr/projection.h"

namespace armature::expr {

// The expressions of one request as they were sent; nullopt: absent.
struct RequestExpressions {
  std::optional<std::string_view> update;
  std::optional<std::string_view> condition;
  std::optional<std::string_view> key_condition;
  std::optional<std::string_view> filter;
  std::optional<std::string_view> projection;
};

// The same, parsed, bound and checked. Move-only.
//
// Lifetime: values point into the bytes of Placeholders::values; nothing points into the texts.
struct BoundExpressions {
  std::optional<Update> update;
  std::optional<Condition> condition;
  std::optional<KeyCondition> key_condition;
  std::optional<Condition> filter;
  std::optional<Projection> projection;
};

// The kinds that operations know, in the order in which errors list them.
inline constexpr ExpressionKind kGetKinds[] = {ExpressionKind::kProjection};
inline constexpr ExpressionKind kPutKinds[] = {ExpressionKind::kCondition};
inline constexpr ExpressionKind kDeleteKinds[] = {ExpressionKind::kCondition};
inline constexpr ExpressionKind kUpdateKinds[] = {ExpressionKind::kUpdate, ExpressionKind::kCondition};
inline constexpr ExpressionKind kQueryKinds[] = {ExpressionKind::kProjection, ExpressionKind::kFilter,
                                                 ExpressionKind::kKeyCondition};
inline constexpr ExpressionKind kScanKinds[] = {ExpressionKind::kProjection, ExpressionKind::kFilter};

// Checks everything about expressions that needs no table.
//
// Errors: ValidationException, the first of: placeholders without expressions; empty or malformed
// placeholder parameters; a fault in an expression (update, condition, key condition, filter,
// projection, in this order; inside one, syntax before everything else, then the documented order
// of static checks); unused names, unused values; what key conditions do not allow. Limits:
// kExpressionMaxBytes per text, so parsing is bounded in time and depth. `cache`: where trees of known texts are, or
// null.
absl::StatusOr<BoundExpressions> BindExpressions(const RequestExpressions& expressions,
                                                 const Placeholders& placeholders,
                                                 std::span<const ExpressionKind> known_kinds,
                                                 ParseCache* cache = nullptr);

// The part of BindExpressions that comes before the values are looked at, for requests whose values turned out to be
// malformed: what this finds is told in their place. `names`: without its values.
absl::Status CheckBeforeValues(const RequestExpressions& expressions, const Placeholders& names,
                               std::span<const ExpressionKind> known_kinds);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_BINDER_H_
