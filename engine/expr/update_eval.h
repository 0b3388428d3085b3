#ifndef ARMATURE_ENGINE_EXPR_UPDATE_EVAL_H_
#define ARMATURE_ENGINE_EXPR_UPDATE_EVAL_H_

// Applies an update to an item.
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

inline constexpr char kUpdateTooLarge[] = "Item size to update has exceeded the maximum allowed size";

// The item after `update`, in canonical item bytes. Nullopt if there is none: no item existed before, and an update
// that only removes creates none.
//
// `before` is the current item. If it is nullopt, the new item starts with `key`, the key attributes in canonical
// bytes. `update` is bound, or equivalent: its targets do not overlap, conflict or name key attributes, and its values
// are canonical.
//
// All operands are read from `before`, or from `key` if there is no item, whatever the update changes elsewhere, and
// all list indexes refer to the lists of `before`. Elements set beyond the end of a list are appended in the order of
// their indexes. ADD creates an absent attribute. ADD of a list, which only legacy parameters can express, appends to
// the stored list.
//
// Errors: ValidationException for an operand that is absent or of the wrong type, a sum outside the range of numbers, a
// target whose parent is absent or of the wrong type, a new attribute with an empty or too long name, nesting beyond
// kNestingDepthMax, and computed values that exceed kItemSizeMaxBytes together (kUpdateTooLarge); DataLoss for a
// malformed stored number. The caller checks the size of the item, which includes what the update does not change.
// Thread-safety: thread-safe. Cost: linear in the values that are read and written; other attributes are copied
// unchanged. Memory: `before` and the encoding of one item of maximal size.
absl::StatusOr<std::optional<std::string>> ApplyUpdate(const Update& update,
                                                       const std::optional<model::ItemView>& before,
                                                       const model::ItemView& key);

// Number of times that ApplyUpdate reads the item, by the paths of its operands, beside the pass that writes the new
// one.
size_t ReadingsOf(const Update& update);

// The targets of `update` in text order.
std::vector<const DocumentPath*> TargetsOf(const Update& update);

// The targets of `update` as a projection, to show them before or after the update. Empty for an update without
// targets.
Projection UpdatedParts(const Update& update);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_UPDATE_EVAL_H_
