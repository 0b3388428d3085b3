#ifndef ARMATURE_ENGINE_EXPR_PATHS_H_
#define ARMATURE_ENGINE_EXPR_PATHS_H_

// Rules that operands and document paths have in common, whatever expression they stand in.

#include <optional>
#include <string>
#include <vector>

#include "engine/expr/ast.h"
#include "engine/expr/fault_log.h"
#include "engine/expr/placeholders.h"
#include "storage/model/item_view.h"
#include "storage/model/value.h"

namespace armature::expr {

// "[a, b, [0]]": a bound path as errors print it.
std::string PathText(const DocumentPath& path);

// What a bound path leads to in `item`; nullopt if it leads nowhere: something on the way is absent, a list is too
// short, or a name meets no map or an index no list. Points into the item. Linear in the lists on the way.
std::optional<model::ValueView> Follow(const DocumentPath& path, const model::ItemView& item);

// Puts attribute names in the place of "#n". Faults: kReservedWord and kUndefinedName, into the log
// given for each.
void BindPath(PlaceholderTable* table, FaultLog* reserved, FaultLog* undefined, DocumentPath* path);

// Finds the value of ":v". Fault: the given category for one that is not defined.
void BindValue(PlaceholderTable* table, Fault category, FaultLog* undefined, ValueOperand* operand);

// Faults kOverlap and kConflict over paths that are written to or projected: no two may be equal,
// or one inside the other, or take the same parent once for a map and once for a list.
void CheckOverlaps(const std::vector<const DocumentPath*>& paths, FaultLog* faults);

// The type of an operand as far as the text tells it: a bound value's, or a function's; nullopt for
// what depends on the item.
std::optional<model::ValueType> StaticType(const Operand& operand);

std::string OperandCountText(std::string_view function, size_t count);
std::string OperandTypeText(std::string_view function, std::string_view type);
std::string PathRequiredText(std::string_view function);
std::string MisusedFunctionText(std::string_view function);
std::string UnknownFunctionText(std::string_view function);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_PATHS_H_
