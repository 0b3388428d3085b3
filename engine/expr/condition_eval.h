#ifndef ARMATURE_ENGINE_EXPR_CONDITION_EVAL_H_
#define ARMATURE_ENGINE_EXPR_CONDITION_EVAL_H_

// Evaluation of conditions and filters on an item.
//
// Source: the DynamoDB developer guide, "Comparison operator and function reference".

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "engine/expr/ast.h"
#include "storage/model/item_view.h"
#include "storage/model/key_schema.h"

namespace armature::expr {

// True if `item` satisfies `condition`. A missing item is an empty ItemView.
//
// Two-valued and without errors: a comparison with an absent operand or a wrong type is false, except that `<>` is true
// if a side is absent. Reads the item in place. Thread-safety: thread-safe. Cost: one pass over the item's top level
// per operand; contains() is linear in both operands.
bool Evaluate(const Condition& condition, const model::ItemView& item);

// Upper bound of the work of evaluating an expression on one item.
struct EvaluationCost {
  size_t readings = 0;  // number of times that the item is read, by its paths
  // Work that does not depend on the item: the constants that are read whole, as in `contains(:v, a)`, and a fixed
  // number of bytes for each comparison and function.
  size_t constant_bytes = 0;

  size_t BytesFor(size_t item_bytes) const { return readings * item_bytes + constant_bytes; }
  EvaluationCost& operator+=(const EvaluationCost& other) {
    readings += other.readings;
    constant_bytes += other.constant_bytes;
    return *this;
  }
};

EvaluationCost CostOf(const Condition& condition);

// The first top-level attribute used in `condition`, in text order, that is one of `names`; nullopt if there is none.
std::optional<std::string> FirstAttributeAmong(const Condition& condition, const std::vector<std::string>& names);

// The top-level attributes used in `condition`, in text order, possibly with duplicates.
std::vector<std::string> TopLevelNames(const Condition& condition);

// Refuses paths into key attributes, as CheckKeysAreWhole of projection.h.
absl::Status CheckKeysAreWhole(const Condition& condition, const model::KeySchema& keys, bool index_keys);

// Checks that a Query's filter does not use key attributes of the queried table or index. `parameter` is the filter's
// name in errors: "Filter Expression", or the legacy parameter's name.
//
// Errors: ValidationException that names the first key attribute in the filter.
absl::Status CheckFilterAvoidsKeys(std::string_view parameter, const Condition& filter, const model::KeySchema& keys);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_CONDITION_EVAL_H_
