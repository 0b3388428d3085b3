#include "engine/access/json_fields.h"

#include <simdjson.h>

#include <set>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::access {

using simdjson::dom::element;

absl::Status Fault(std::string_view place, std::string_view what) {
  return absl::InvalidArgumentError(place.empty() ? std::string(what) : Cat(place, ": ", what));
}

std::string Member(std::string_view place, std::string_view name) {
  return place.empty() ? std::string(name) : Cat(place, ".", name);
}

absl::Status ForEachMember(const element& json, const std::string& place,
                           absl::FunctionRef<absl::Status(std::string_view name, const element&)> take) {
  simdjson::dom::object object;
  if (json.get(object) != simdjson::SUCCESS) return Fault(place, "must be an object");
  std::set<std::string_view> names;
  for (const simdjson::dom::key_value_pair member : object) {
    if (!names.insert(member.key).second) return Fault(Member(place, member.key), "is there twice");
    ARM_RETURN_IF_ERROR(take(member.key, member.value));
  }
  return absl::OkStatus();
}

absl::Status ForEachElement(const element& json, const std::string& place, size_t count_max,
                            absl::FunctionRef<absl::Status(const std::string& place, const element&)> take) {
  simdjson::dom::array array;
  if (json.get(array) != simdjson::SUCCESS) return Fault(place, "must be a list");
  size_t count = 0;
  for (const element each : array) {
    if (count >= count_max) return Fault(place, Cat("has more than ", count_max, " elements"));
    ARM_RETURN_IF_ERROR(take(Cat(place, "[", count, "]"), each));
    ++count;
  }
  return absl::OkStatus();
}

absl::Status ForOneOrMore(const element& json, const std::string& place, size_t count_max,
                          absl::FunctionRef<absl::Status(const std::string& place, const element&)> take) {
  return json.is_array() ? ForEachElement(json, place, count_max, take) : take(place, json);
}

}  // namespace armature::access
