#ifndef ARMATURE_ENGINE_EXPR_UPDATE_EVAL_H_
#define ARMATURE_ENGINE_EXPR_UPDATE_EVAL_H_

// Updates: from an item as it is to the item as it shall be.
//
// Source: the DynamoDB developer guide, "Update expressions".

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/expr/ast.h"
#include "engine/expr/projection.h"
#include "storage/model/item_view.h"

namespace armature::expr {

// The item after `update`, in canonical item bytes; nullopt if there is none: none was there, and an update that only
// removes makes none.
//
// `before` is the item as it is, nullopt if there is none; then one is made from `key`, the key attributes in canonical
// bytes. `update` is bound or made like one that is: its targets neither overlap nor conflict nor name key attributes,
// and its values are canonical.
//
// All operands are read from `before`, whatever the update changes elsewhere, and all list indexes mean places in the
// lists of `before`. Elements set beyond the end of a list are appended in the order of their indexes. ADD makes what
// is absent; to a list, which no expression can give it but older parameters can, it appends.
//
// Errors: ValidationException for an operand that is absent or of the wrong type, a sum that no number can hold, a
// target whose parent is absent or of the wrong kind, a new attribute without a name or with too long a one, and
// nesting beyond kNestingDepthMax; DataLoss if a stored number is none. The size of the item is for the caller to
// judge. Thread-safety: thread-safe. Cost: linear in the values that are read and written; attributes that the update
// does not name are copied as they stand.
absl::StatusOr<std::optional<std::string>> ApplyUpdate(const Update& update,
                                                       const std::optional<model::ItemView>& before,
                                                       const model::ItemView& key);

// What `update` writes to or removes, in the order of the text.
std::vector<const DocumentPath*> TargetsOf(const Update& update);

// The same as a projection: what of an item the update names, to be looked at before or after. An update without
// targets names nothing.
Projection UpdatedParts(const Update& update);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_UPDATE_EVAL_H_
