#ifndef ARMATURE_ENGINE_EXPR_LEGACY_BINDER_H_
#define ARMATURE_ENGINE_EXPR_LEGACY_BINDER_H_

// Converts the legacy parameters, which predate expressions, to bound trees.
//
// AttributesToGet, AttributeUpdates, Expected, KeyConditions, QueryFilter, ScanFilter and ConditionalOperator name
// top-level attributes literally: a dot is part of the name. Each function makes the checks that need no table, and
// builds the tree that the binder builds for the equivalent expression.
//
// Thread-safety: free functions without state, and thread-compatible values.
// Lifetime: values in a tree point to the data that the parameters' values pointed to.
// Errors: ValidationException for the first fault, attribute by attribute in the order given.
// Source: the DynamoDB developer guide, "Legacy conditional parameters".

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/expr/ast.h"
#include "engine/expr/key_condition.h"
#include "engine/expr/projection.h"
#include "storage/model/item_view.h"

namespace armature::expr {

// In the order in which errors list them.
enum class LegacyOperator : uint8_t {
  kIn,
  kNull,  // the attribute is absent; unrelated to the type NULL
  kBetween,
  kLess,
  kNotContains,
  kEqual,
  kGreater,
  kNotNull,
  kNotEqual,
  kLessOrEqual,
  kBeginsWith,
  kGreaterOrEqual,
  kContains,
};
inline constexpr std::string_view kLegacyOperatorNames[] = {
    "IN", "NULL", "BETWEEN", "LT", "NOT_CONTAINS", "EQ", "GT", "NOT_NULL", "NE", "LE", "BEGINS_WITH", "GE", "CONTAINS"};

enum class LegacyAction : uint8_t { kAdd, kPut, kDelete };
inline constexpr std::string_view kLegacyActionNames[] = {"ADD", "PUT", "DELETE"};

inline constexpr std::string_view kConditionalOperatorNames[] = {"OR", "AND"};

constexpr std::string_view LegacyOperatorName(LegacyOperator op) {
  return kLegacyOperatorNames[static_cast<uint8_t>(op)];
}
// Nullopt for an unknown name.
std::optional<LegacyOperator> LegacyOperatorByName(std::string_view name);
std::optional<LegacyAction> LegacyActionByName(std::string_view name);

// An entry of KeyConditions, QueryFilter or ScanFilter.
struct LegacyCondition {
  std::string attribute;
  LegacyOperator op = LegacyOperator::kEqual;
  std::vector<model::ValueView> arguments;
};

// An entry of Expected: either `value` and `exists`, or `op` with `arguments` or with `value` as its only argument.
struct LegacyExpectation {
  std::string attribute;
  std::optional<LegacyOperator> op;
  std::optional<model::ValueView> value;
  std::optional<bool> exists;
  std::optional<std::vector<model::ValueView>> arguments;  // AttributeValueList
};

// An entry of AttributeUpdates.
struct LegacyUpdate {
  std::string attribute;
  LegacyAction action = LegacyAction::kPut;
  std::optional<model::ValueView> value;
};

// Checks the number and types of arguments: all arguments of a condition have one type, which the operator accepts.
absl::Status CheckLegacyConditions(std::span<const LegacyCondition> conditions);

// QueryFilter and ScanFilter. `conditions` is not empty; `kind` joins them.
absl::StatusOr<Condition> BindLegacyFilter(std::span<const LegacyCondition> conditions, Junction::Kind kind);

// Expected. `expectations` is not empty; `kind` joins them.
absl::StatusOr<Condition> BindExpected(std::span<const LegacyExpectation> expectations, Junction::Kind kind);

// KeyConditions that have passed CheckLegacyConditions.
//
// Errors also: an operator that is not a key range. MatchKeyCondition makes the checks that need the schema.
absl::StatusOr<KeyCondition> BindKeyConditions(std::span<const LegacyCondition> conditions);

// AttributesToGet. `names` is not empty.
absl::StatusOr<Projection> BindAttributesToGet(std::span<const std::string> names);

// AttributeUpdates: a tree of UpdateStyle::kAttributeUpdates, whose ADD may also append to lists.
absl::StatusOr<Update> BindAttributeUpdates(std::span<const LegacyUpdate> updates);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_LEGACY_BINDER_H_
