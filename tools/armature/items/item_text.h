#ifndef ARMATURE_TOOLS_ARMATURE_ITEMS_ITEM_TEXT_H_
#define ARMATURE_TOOLS_ARMATURE_ITEMS_ITEM_TEXT_H_

// Attribute values and items as texts for people and for other programs.
//
// Thread-safety: free functions without state.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "armature/api/v1/types.pb.h"

namespace armature::cli {

// The dialect of JSON in answers.
enum class JsonDialect { kPlain, kTyped };

// The value on one line, in the dialect.
std::string ValueText(const api::v1::AttributeValue& value, JsonDialect dialect);

// The item on one line, in the dialect. The order of attributes is that of PlainItem.
std::string ItemText(const api::v1::Item& item, const std::vector<std::string>& first, JsonDialect dialect);

// The value as a cell of a table: texts without quotes, an empty text as "", numbers, true, NULL, binaries in base64,
// sets as {a, b}, lists and maps as plain JSON. Control characters stay: see display.h.
std::string CellText(const api::v1::AttributeValue& value);

// The value as a cell of CSV, before it is quoted: S and N as they are, B in base64, all other types as JSON.
std::string CsvText(const api::v1::AttributeValue& value, JsonDialect dialect);

// The item as a mapping in YAML, with a line break at its end. `indent`: blanks before each line but the first. Lists
// and maps are nested blocks; sets, binaries and maps that plain JSON marks with M are JSON, as are all values in the
// typed dialect. Texts that YAML could take for something else are in quotes.
std::string YamlItem(const api::v1::Item& item, const std::vector<std::string>& first, JsonDialect dialect,
                     size_t indent);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_ITEMS_ITEM_TEXT_H_
