#ifndef ARMATURE_ENGINE_EXPR_KIND_H_
#define ARMATURE_ENGINE_EXPR_KIND_H_

// The five kinds of expressions in a request, and their names in errors.

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::expr {

enum class ExpressionKind : uint8_t { kUpdate, kCondition, kKeyCondition, kFilter, kProjection };

// The request member of a kind, e.g. "FilterExpression".
constexpr std::string_view KindName(ExpressionKind kind) {
  constexpr std::string_view kNames[] = {"UpdateExpression", "ConditionExpression", "KeyConditionExpression",
                                         "FilterExpression", "ProjectionExpression"};
  return kNames[static_cast<uint8_t>(kind)];
}

// ValidationException "Invalid <kind>: <detail>".
inline absl::Status InvalidExpressionError(ExpressionKind kind, std::string_view detail) {
  return ValidationError(Cat("Invalid ", KindName(kind), ": ", detail));
}

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_KIND_H_
