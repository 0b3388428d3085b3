#ifndef ARMATURE_ENGINE_ITEMS_ITEM_KEY_H_
#define ARMATURE_ENGINE_ITEMS_ITEM_KEY_H_

// Rules for key attributes in items, keys and index keys of requests.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/model/item_view.h"
#include "storage/store/catalog/catalog.h"

namespace armature::engine {

// Encodes the row key. `key` must hold exactly the key attributes of `table`, with their types, not empty, not too
// long. Errors: ValidationException `The provided key element does not match the schema` and the texts for values.
absl::StatusOr<std::string> EncodeKeyParameter(const store::Table& table, const model::ItemView& key);

// The same for an item to be put, which may hold other attributes as well.
absl::StatusOr<std::string> EncodeItemKey(const store::Table& table, const model::ItemView& item);

// Checks that attributes of `item` that are keys of an index have their type, are not empty, and fit the size limits.
// If several indexes are violated, the alphabetically first is reported.
absl::Status CheckIndexKeys(const store::Table& table, const model::ItemView& item);

// Checks the values of key attributes of a table or index: none is empty, partition attributes have at most 2048 bytes
// together, sort attributes at most 1024 together. Attributes missing in `item` are skipped.
absl::Status CheckKeyValues(const model::KeySchema& schema, const model::ItemView& item);

// Checks that no attribute of `item` that is a key of the table or of an index is an empty string or binary. Types are
// not checked. Errors: ValidationException, as above.
absl::Status CheckNoEmptyKeys(const store::Table& table, const model::ItemView& item);

// Parts of these rules shared with updates, which have error texts of their own.

// Returns the first error of `check` over the indexes of `table` in alphabetical order.
absl::Status CheckIndexesByName(const store::Table& table,
                                absl::FunctionRef<absl::Status(const model::IndexDescriptor&)> check);
// IsEmptyKeyValue: true for an empty string or binary, which no key attribute may be. EmptyWord: its type's name.
bool IsEmptyKeyValue(const model::ValueView& value);
std::string_view EmptyWord(const model::ValueView& value);
// Size of a value in terms of the limits on keys.
size_t KeyBytes(const model::ValueView& value);
// The error for a value whose type differs from that of the index key attribute.
absl::Status IndexKeyTypeError(const model::IndexDescriptor& index, const model::KeyAttribute& attribute,
                               model::ValueType actual);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_ITEM_KEY_H_
