#ifndef ARMATURE_ENGINE_ACCESS_JSON_FIELDS_H_
#define ARMATURE_ENGINE_ACCESS_JSON_FIELDS_H_

// Strict reading of JSON documents that grant access: repeated members are errors, and every error names its place.

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace simdjson::dom {
class element;
}  // namespace simdjson::dom

namespace armature::access {

// InvalidArgument: "place: what". `place` may be empty.
absl::Status Fault(std::string_view place, std::string_view what);

// The place of a member: "place.name".
std::string Member(std::string_view place, std::string_view name);

// Calls `take` for each member of an object. A repeated name is an error.
absl::Status ForEachMember(const simdjson::dom::element& json, const std::string& place,
                           absl::FunctionRef<absl::Status(std::string_view name, const simdjson::dom::element&)> take);

// Calls `take` for each element of a list, with its place. More than `count_max` elements are an error.
absl::Status ForEachElement(
    const simdjson::dom::element& json, const std::string& place, size_t count_max,
    absl::FunctionRef<absl::Status(const std::string& place, const simdjson::dom::element&)> take);

// Calls `take` as ForEachElement does; a value that is not a list counts as a list of one.
absl::Status ForOneOrMore(
    const simdjson::dom::element& json, const std::string& place, size_t count_max,
    absl::FunctionRef<absl::Status(const std::string& place, const simdjson::dom::element&)> take);

}  // namespace armature::access

#endif  // ARMATURE_ENGINE_ACCESS_JSON_FIELDS_H_
