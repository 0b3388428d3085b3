#ifndef ARMATURE_ENGINE_ITEMS_UPDATE_KEYS_H_
#define ARMATURE_ENGINE_ITEMS_UPDATE_KEYS_H_

// What updates may do to key attributes: nothing to those of the table, and to those of an index only what keeps them
// fit to be keys.
//
// Source: the API reference, "UpdateItem", and the error texts of the service.

#include "absl/status/status.h"
#include "engine/expr/ast.h"
#include "storage/model/item_view.h"
#include "storage/store/catalog/catalog.h"

namespace armature::engine {

// What the text of the update tells, whatever the item: no target is a key attribute of `table` or inside one, none is
// inside a key attribute of an index, and constants that SET or ADD give to one have its type.
//
// Errors: ValidationException; for the first such target, those of the table before those of indexes, and of several
// indexes the alphabetically first.
absl::Status CheckUpdateTargets(const store::Table& table, const expr::Update& update);

// What came out: index key attributes that the update wrote, computed or not, have their type, are not empty, and fit
// the size limits of keys, together with those of their group that fit. Attributes it did not write are not judged: the
// item may be older than the index. `created`: there was no item, so the key counts as written.
//
// Errors: ValidationException, in the words that the service has for updates.
absl::Status CheckUpdatedIndexKeys(const store::Table& table, const expr::Update& update, bool created,
                                   const model::ItemView& after);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_UPDATE_KEYS_H_
