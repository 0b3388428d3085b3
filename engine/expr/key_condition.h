#ifndef ARMATURE_ENGINE_EXPR_KEY_CONDITION_H_
#define ARMATURE_ENGINE_EXPR_KEY_CONDITION_H_

// Key conditions of Query: the allowed terms, and their match with the key of a table or index.
//
// Source: the DynamoDB developer guide, "Key condition expressions for the Query operation" and
// "Multi-attribute keys pattern".

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/expr/ast.h"
#include "storage/model/item_view.h"
#include "storage/model/key_schema.h"

namespace armature::expr {

enum class KeyOperator : uint8_t {
  kEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kBetween,
  kBeginsWith,
};

// `attribute op first`, or `attribute BETWEEN first AND second`. `:v < a` is stored as `a > :v`.
//
// Lifetime: values point into the bytes of Placeholders::values.
struct KeyConditionTerm {
  std::string attribute;
  KeyOperator op = KeyOperator::kEqual;
  model::ValueView first;
  std::optional<model::ValueView> second;  // kBetween only
};

// Terms in text order, each on a different attribute.
struct KeyCondition {
  std::vector<KeyConditionTerm> terms;
};

// Converts a bound condition to terms on top-level attributes joined by AND.
//
// Errors: ValidationException with prefix "Invalid KeyConditionExpression: " for the first part, in text order, that
// key conditions do not allow.
absl::StatusOr<KeyCondition> RestrictToKeys(const Condition& condition);

// A key condition arranged by the attributes of a key.
struct MatchedKeyCondition {
  std::vector<model::ValueView> partition;     // one for each partition attribute, in schema order
  std::vector<model::ValueView> sort_equal;    // equalities on a prefix of the sort attributes
  std::optional<KeyConditionTerm> sort_range;  // on sort[sort_equal.size()]; never kEqual
};

// Errors: ValidationException for a value that the key attribute cannot have: another type, or empty.
absl::Status CheckKeyValue(const model::KeyAttribute& attribute, const model::ValueView& value);

// Errors: ValidationException for values with more bytes than kPartitionKeyMaxBytes and kSortKeyMaxBytes.
absl::Status CheckKeySizes(size_t partition, size_t sort);

// Matches `condition` with the key of a table or index: every partition attribute by equality, sort attributes from the
// left without gaps, a range on the last one only.
//
// Errors: ValidationException for a partition attribute without equality, a gap, a range before another condition, an
// attribute that is not a key; or for a value with another type than the key, empty, or longer than
// kPartitionKeyMaxBytes / kSortKeyMaxBytes (each limits the sum over its group of attributes).
absl::StatusOr<MatchedKeyCondition> MatchKeyCondition(const KeyCondition& condition, const model::KeySchema& schema);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_KEY_CONDITION_H_
