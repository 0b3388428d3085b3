#ifndef ARMATURE_TESTS_CONFORMANCE_JSON_MATCH_H_
#define ARMATURE_TESTS_CONFORMANCE_JSON_MATCH_H_

// Compares an answer with the expectation of a case.

#include <optional>
#include <string>

#include "tools/armature/json_text.h"

namespace armature::conformance {

using cli::Json;

struct MatchOptions {
  bool partial = false;          // objects may have more members; null means absent
  bool unordered_items = false;  // the order of "Items" does not matter
};

// The first difference, such as "Items[1].a.N: expected "1", got "2""; nullopt if `actual` matches.
//
// Sets ({"SS": [...]} and the like) are compared without order, and numbers by value. The string "<any>" matches any
// value. Exact answers may omit Count and ScannedCount.
std::optional<std::string> FindDifference(const Json& expected, const Json& actual, const MatchOptions& options);

// The document on one line, with long texts shortened.
std::string Brief(const Json& json);

}  // namespace armature::conformance

#endif  // ARMATURE_TESTS_CONFORMANCE_JSON_MATCH_H_
