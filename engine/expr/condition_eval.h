#ifndef ARMATURE_ENGINE_EXPR_CONDITION_EVAL_H_
#define ARMATURE_ENGINE_EXPR_CONDITION_EVAL_H_

// Conditions and filters against an item.
//
// Source: the DynamoDB developer guide, "Comparison operator and function reference".

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "engine/expr/ast.h"
#include "storage/model/item_view.h"
#include "storage/model/key_schema.h"

namespace armature::expr {

// Whether `item` meets `condition`. An item that does not exist is an empty ItemView.
//
// Two-valued and without errors: what types or absence make senseless is false, except that `<>` is
// true when a side is absent. Reads the item in place. Thread-safety: thread-safe. Cost: one walk
// over the item's top level per operand; contains() is linear in both operands.
bool Evaluate(const Condition& condition, const model::ItemView& item);

// The first attribute, in the order of the text, that `condition` reads or reads a part of, and
// that is one of `names`; nullopt if there is none.
std::optional<std::string> FirstAttributeAmong(const Condition& condition, const std::vector<std::string>& names);

// The top-level attributes that `condition` reads or reads a part of, in the order of the text; some maybe twice.
std::vector<std::string> TopLevelNames(const Condition& condition);

// A Query's filter may not read key attributes of the table or index that is queried. `parameter` is how errors call
// the filter: "Filter Expression", or the legacy parameter's name.
//
// Errors: ValidationException that names the first key attribute in the filter.
absl::Status CheckFilterAvoidsKeys(std::string_view parameter, const Condition& filter, const model::KeySchema& keys);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_CONDITION_EVAL_H_
