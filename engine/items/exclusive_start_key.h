#ifndef ARMATURE_ENGINE_ITEMS_EXCLUSIVE_START_KEY_H_
#define ARMATURE_ENGINE_ITEMS_EXCLUSIVE_START_KEY_H_

// ExclusiveStartKey: the position at which a page begins.
//
// The start key is a key of the table or index, not an opaque token. It need not exist and may be made up by the
// client.

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "storage/model/item_view.h"
#include "storage/store/catalog/catalog.h"

namespace armature::engine {

enum class ReadKind : uint8_t { kQuery, kScan };

// Canonical bytes of the start key. Checks the values without knowledge of the table.
// Errors: ValidationException `The provided starting key is invalid: <reason>`.
absl::StatusOr<std::string> CanonicalizeStartKey(const std::string& wire);

// Checks that `key` holds exactly the key attributes of table and index (null: the table itself) with their types, and
// encodes it as a row key. Errors: ValidationException, with the text of the operation.
absl::StatusOr<std::string> EncodeStartKey(ReadKind kind, const store::Table& table, const store::Index* index,
                                           const model::ItemView& key);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_EXCLUSIVE_START_KEY_H_
