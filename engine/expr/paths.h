#ifndef ARMATURE_ENGINE_EXPR_PATHS_H_
#define ARMATURE_ENGINE_EXPR_PATHS_H_

// Rules for operands and document paths in all kinds of expressions: reserved words, types, the order of values.

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "engine/expr/ast.h"
#include "engine/expr/fault_log.h"
#include "engine/expr/placeholders.h"
#include "storage/model/item_view.h"

namespace armature::expr {

// True for a word that must not be used as a bare attribute name, in upper or lower case.
// Source: the DynamoDB developer guide, "Reserved words in DynamoDB".
bool IsReservedWord(std::string_view word);

// A bound path as errors print it: "[a, b, [0]]".
std::string PathText(const DocumentPath& path);

// The value at a bound path in `item`. Nullopt if there is none: an element on the way is absent, a list is too short,
// a name is applied to a value that is not a map, or an index to a value that is not a list. The view points into the
// item. Cost: linear in the lists on the way.
std::optional<model::ValueView> Follow(const DocumentPath& path, const model::ItemView& item);

// The error for a path into a key attribute, which is a scalar. `index_key`: of an index, which the error says.
absl::Status NestedKeyError(std::string_view attribute, bool index_key);

// Replaces "#n" in a path by attribute names. Faults: kReservedWord and kPathLimit (for names that are too long
// together) into `reserved`, kUndefinedName into `undefined`.
void BindPath(PlaceholderTable* table, FaultLog* reserved, FaultLog* undefined, DocumentPath* path);

// Finds the value of ":v". Fault: `category` if it is undefined.
void BindValue(PlaceholderTable* table, Fault category, FaultLog* undefined, ValueOperand* operand);

// Orders paths so that those below one parent are adjacent, a path precedes those inside it, and names precede indexes.
struct PathOrder {
  bool operator()(const DocumentPath* a, const DocumentPath* b) const;
};

// Faults kOverlap and kConflict for paths that are written or projected. Two paths must not be equal, nor one a prefix
// of the other, nor may they use the same parent both as a map and as a list. Reports the first path in `paths` that
// overlaps or conflicts with an earlier one, and the first such earlier one. Cost: n log n comparisons of paths.
void CheckOverlaps(const std::vector<const DocumentPath*>& paths, FaultLog* faults);

// The type of an operand that is known from the text: that of a bound value, or of a function's result. Nullopt if it
// depends on the item.
std::optional<model::ValueType> StaticType(const Operand& operand);

// True for the types with an order: S, N and B.
constexpr bool IsOrdered(model::ValueType type) {
  return type == model::ValueType::kString || type == model::ValueType::kNumber || type == model::ValueType::kBinary;
}

// Compares two scalars of one type: numbers, in canonical text, by value; strings and binaries by unsigned bytes.
// Nullopt if `type` has no order.
std::optional<std::strong_ordering> CompareScalars(model::ValueType type, std::string_view a, std::string_view b);

constexpr bool IsSet(model::ValueType type) {
  return type == model::ValueType::kStringSet || type == model::ValueType::kNumberSet ||
         type == model::ValueType::kBinarySet;
}

std::string OperandCountText(std::string_view function, size_t count);
std::string PathDepthText(size_t levels);
std::string OperandTypeText(std::string_view function, std::string_view type);
std::string PathRequiredText(std::string_view function);
std::string MisusedFunctionText(std::string_view function);
std::string UnknownFunctionText(std::string_view function);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_PATHS_H_
