#ifndef ARMATURE_TESTS_CONFORMANCE_JSON_MATCH_H_
#define ARMATURE_TESTS_CONFORMANCE_JSON_MATCH_H_

// Compares an answer with what a case expects.

#include <optional>
#include <string>

#include "tools/armature/json_text.h"

namespace armature::conformance {

using cli::Json;

struct MatchOptions {
  bool partial = false;          // Objects may hold more than is named; null means absent.
  bool unordered_items = false;  // The order of "Items" does not count.
};

// Where and how `actual` differs, such as "Items[1].a.N: expected "1", got "2""; nothing if it matches.
//
// Sets ({"SS": [...]} and its kin) are compared without order, numbers by value, and the string "<any>" matches
// whatever is there. Exact answers need not name Count and ScannedCount.
std::optional<std::string> FindDifference(const Json& expected, const Json& actual, const MatchOptions& options);

// On one line, with long texts shortened.
std::string Brief(const Json& json);

}  // namespace armature::conformance

#endif  // ARMATURE_TESTS_CONFORMANCE_JSON_MATCH_H_
