#ifndef ARMATURE_TOOLS_ARMATURE_INSPECT_RECORD_JSON_H_
#define ARMATURE_TOOLS_ARMATURE_INSPECT_RECORD_JSON_H_

// Rows and records of the change log in JSON. docs/FORMAT.md tells what they are.
//
// What is damaged is shown as far as it can be read; the reasons are in Decoded::problems.

#include <string_view>

#include "storage/base/strong_type.h"
#include "tools/armature/inspect/key_layout.h"
#include "tools/armature/inspect/tables.h"

namespace armature::cli {

// A row of a table or an index: the members of DecodeKey, ItemSize by the rules of the API, StoredBytes, and Item.
// Problems: the key or the value cannot be read; the item is not canonical or has another size; its key attributes
// differ from the key.
Decoded DecodeRow(std::string_view key, std::string_view value, const KeyLayout& layout);

// The size of an item collection: the key, and CollectionBytes.
Decoded DecodeCollection(std::string_view key, std::string_view value, const KeyLayout& layout);

// A record of the change log: Sequence, TableId, TableName, DateTime, BaseKey and Changes. Without names if the catalog
// does not know the table.
Decoded DecodeLogRecord(std::string_view key, std::string_view value, const Tables& tables);

// The JSON with the problems. If there are problems, also with the value in hex.
Json WithProblems(const Decoded& decoded, std::string_view value);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_INSPECT_RECORD_JSON_H_
