#ifndef ARMATURE_ENGINE_ITEMS_ITEM_KEY_H_
#define ARMATURE_ENGINE_ITEMS_ITEM_KEY_H_

// Rules for key attributes in items, keys and index keys of requests, and in updates.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/expr/ast.h"
#include "storage/model/item_view.h"
#include "storage/store/catalog/catalog.h"

namespace armature::engine {

// Text of the error about a key whose attributes or types differ from the schema.
inline constexpr std::string_view kKeyMismatch = "The provided key element does not match the schema";

// Encodes the row key. `key` must hold exactly the key attributes of `table`, with their types, not empty, not too
// long. Errors: ValidationException `The provided key element does not match the schema` and the texts for values.
absl::StatusOr<std::string> EncodeKeyParameter(const store::Table& table, const model::ItemView& key);

// Encodes the row key of an item to be put, which may hold other attributes as well. Errors: ValidationException.
absl::StatusOr<std::string> EncodeItemKey(const store::Table& table, const model::ItemView& item);

// Checks that attributes of `item` that are keys of an index have their type, are not empty, and fit the size limits.
// If several indexes are violated, the alphabetically first is reported.
absl::Status CheckIndexKeys(const store::Table& table, const model::ItemView& item);

// Checks the values of key attributes of a table or index: none is empty, partition attributes have at most 2048 bytes
// together, sort attributes at most 1024 together. Attributes missing in `item` are skipped.
absl::Status CheckKeyValues(const model::KeySchema& schema, const model::ItemView& item);

// Checks that no attribute of `item` that is a key of the table or of an index is an empty string or binary. Types are
// not checked. Errors: ValidationException.
absl::Status CheckNoEmptyKeys(const store::Table& table, const model::ItemView& item);

// Rules for updates of key attributes. Key attributes of the table must not change. Key attributes of an index must
// stay valid as keys. Source: the API reference, "UpdateItem", and the error texts of the service.
//
// Checks the targets of an update, independently of the item: no target is a key attribute of `table` or inside one, no
// target is inside a key attribute of an index, and constants assigned to one by SET or ADD have its type.
//
// Errors: ValidationException for the first such target. Violations of table keys precede those of index keys, and
// indexes are checked in alphabetical order.
absl::Status CheckUpdateTargets(const store::Table& table, const expr::Update& update);

// Checks that an update sets no index key attribute to a constant that is empty. Errors: ValidationException, with the
// text of CheckUpdatedIndexKeys.
absl::Status CheckNoEmptyIndexKeys(const store::Table& table, const expr::Update& update);

// Checks the result of an update: index key attributes that the update wrote have their type, are not empty, and fit
// the size limits of keys, together with the valid attributes of their group. Attributes that the update did not write
// are not checked: the item may be older than the index. `created`: no item existed before, so the key counts as
// written.
//
// Errors: ValidationException, with the service's texts for updates.
absl::Status CheckUpdatedIndexKeys(const store::Table& table, const expr::Update& update, bool created,
                                   const model::ItemView& after);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_ITEM_KEY_H_
