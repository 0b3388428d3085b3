#ifndef ARMATURE_ENGINE_ITEMS_UPDATE_KEYS_H_
#define ARMATURE_ENGINE_ITEMS_UPDATE_KEYS_H_

// Rules for updates of key attributes. Key attributes of the table must not change. Key attributes of an index must
// stay valid as keys.
//
// Source: the API reference, "UpdateItem", and the error texts of the service.

#include "absl/status/status.h"
#include "engine/expr/ast.h"
#include "storage/model/item_view.h"
#include "storage/store/catalog/catalog.h"

namespace armature::engine {

// Checks the targets of an update, independently of the item: no target is a key attribute of `table` or inside one, no
// target is inside a key attribute of an index, and constants assigned to one by SET or ADD have its type.
//
// Errors: ValidationException for the first such target. Violations of table keys precede those of index keys, and
// indexes are checked in alphabetical order.
absl::Status CheckUpdateTargets(const store::Table& table, const expr::Update& update);

// Checks the result of an update: index key attributes that the update wrote have their type, are not empty, and fit
// the size limits of keys, together with the valid attributes of their group. Attributes that the update did not write
// are not checked: the item may be older than the index. `created`: no item existed before, so the key counts as
// written.
//
// Errors: ValidationException, with the service's texts for updates.
absl::Status CheckUpdatedIndexKeys(const store::Table& table, const expr::Update& update, bool created,
                                   const model::ItemView& after);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_UPDATE_KEYS_H_
