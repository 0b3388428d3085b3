#ifndef ARMATURE_ENGINE_ITEMS_ITEM_KEY_H_
#define ARMATURE_ENGINE_ITEMS_ITEM_KEY_H_

// Rules for the key attributes of items, keys and index keys in requests.

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

// The text of the error about a key whose attributes or types are not those of the schema.
inline constexpr std::string_view kKeyMismatch = "The provided key element does not match the schema";

// `key` must hold exactly the key attributes of `table`, in their types, not empty, not too long; returns the row's
// key. Errors: ValidationException `The provided key element does not match the schema` and the texts for values.
absl::StatusOr<std::string> EncodeKeyParameter(const store::Table& table, const model::ItemView& key);

// The same for an item to be put: it must hold the key attributes, and may hold more.
absl::StatusOr<std::string> EncodeItemKey(const store::Table& table, const model::ItemView& item);

// Every attribute of `item` that is a key of an index must have its type, not be empty, and fit the size limits; with
// several offences the alphabetically first index is named.
absl::Status CheckIndexKeys(const store::Table& table, const model::ItemView& item);

// Values of key attributes of a table or index: not empty, partition attributes together at most 2048 bytes, sort
// attributes together at most 1024. Attributes that `item` lacks are skipped.
absl::Status CheckKeyValues(const model::KeySchema& schema, const model::ItemView& item);

// What a key parameter, or an item to be put, tells without regard to types: no attribute that is a key of the table or
// of an index is an empty string or binary. Errors: ValidationException, as those above.
absl::Status CheckNoEmptyKeys(const store::Table& table, const model::ItemView& item);

// The pieces of these rules that updates share, whose errors have words of their own.

// The error of the alphabetically first index of `table` for which `check` has one.
absl::Status CheckIndexesByName(const store::Table& table,
                                absl::FunctionRef<absl::Status(const model::IndexDescriptor&)> check);
// Whether `value` is a string or binary without content, which no key attribute may be; "string" or "binary".
bool IsEmptyKeyValue(const model::ValueView& value);
std::string_view EmptyWord(const model::ValueView& value);
// As limits of keys count them.
size_t KeyBytes(const model::ValueView& value);
// The error about a value of another type than the key attribute of an index has.
absl::Status IndexKeyTypeError(const model::IndexDescriptor& index, const model::KeyAttribute& attribute,
                               model::ValueType actual);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_ITEM_KEY_H_
