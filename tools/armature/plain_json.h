#ifndef ARMATURE_TOOLS_ARMATURE_PLAIN_JSON_H_
#define ARMATURE_TOOLS_ARMATURE_PLAIN_JSON_H_

// Plain JSON: items as people write them. It is typed JSON in which texts, numbers, booleans, null, lists and maps may
// stand without their types:
//   {"id": "a1", "amount": 12.50, "tags": {"SS": ["new"]}, "address": {"city": "Oslo"}}
//
// Rules:
// - An object is a typed value if it has exactly one member, whose name is a type and whose value has the JSON type of
//   this table. It is a map otherwise.
//     S, B          string (B in base64)
//     N             string or number
//     BOOL, NULL    boolean
//     SS, NS, BS    array (NS: of strings or numbers)
//     L, M          array, object; their values may be plain again
//   A typed value with unusable content, such as {"SS": [1]}, is an error, never a map. {"M": {...}} is always the map
//   with the members of the inner object, so that every map can be written: {"M": {"S": "x"}}.
// - The outermost object of an item is never a typed value.
// - The typed JSON of the documented API has the same meaning in both dialects.
// - Numbers keep all digits.
//
// Errors: INVALID_ARGUMENT. They name the line and column of a fault of the syntax, and the path of other faults, such
// as "tags.SS[1]". A member that occurs twice is an error. Values nest as deeply as the database allows. The daemon
// checks the rules of the data model (digits of a number, duplicates in a set, sizes).
//
// Thread-safety: free functions without state.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "armature/api/v1/types.pb.h"

namespace armature::cli {

// The item, or the key, that `json` means. Errors: see above.
absl::StatusOr<api::v1::Item> ItemFromPlain(std::string_view json);

// The value that `json` means. Its outermost object may be a typed value. Errors: see above.
absl::StatusOr<api::v1::AttributeValue> ValueFromPlain(std::string_view json);

// The item on one line, without a line break. ItemFromPlain reads the same item from it. Attributes are sorted by name,
// after those of `first`, which keep their order; names of `first` that the item lacks are skipped.
std::string PlainItem(const api::v1::Item& item, const std::vector<std::string>& first = {});

// The value on one line. ValueFromPlain reads the same value from it.
std::string PlainValue(const api::v1::AttributeValue& value);

// The text as a JSON string, with its quotes. Control characters are escaped, also those above ASCII.
std::string QuotedJson(std::string_view text);

// Names and values of an item, in the order in which PlainItem prints them. Lifetime: they point into `item`.
using NamedValue = std::pair<std::string_view, const api::v1::AttributeValue*>;
std::vector<NamedValue> OrderedAttributes(const api::v1::Item& item, const std::vector<std::string>& first);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_PLAIN_JSON_H_
