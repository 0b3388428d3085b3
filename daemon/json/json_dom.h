#ifndef ARMATURE_DAEMON_JSON_JSON_DOM_H_
#define ARMATURE_DAEMON_JSON_JSON_DOM_H_

// What the readers of JSON share with each other: the parser's view of a document. Not for others to include.

#include <simdjson.h>

#include <bit>
#include <cstring>
#include <string_view>

#include "absl/status/status.h"
#include "daemon/json/json_reader.h"

namespace armature::daemon {

using simdjson::dom::element;
using simdjson::dom::element_type;

class JsonDom {
 public:
  static element Element(JsonValue value) { return std::bit_cast<element>(value.bits_); }
  static JsonValue Value(element e) {
    JsonValue value;
    static_assert(sizeof(e) == sizeof(value.bits_));
    std::memcpy(value.bits_, &e, sizeof(e));
    return value;
  }
};

// The value behind a check of its type.
template <class T>
T Get(element e) {
  T value;
  if (e.get(value) != simdjson::SUCCESS) return T();
  return value;
}
inline std::string_view GetText(element e) { return Get<std::string_view>(e); }

// Errors of a value of the wrong type. They are made where a value was seen not to be what was wanted.

// A Java type with its package, as texts show it: "java.lang.String".
absl::Status NotScalarError(element e, std::string_view java_type);
// A scalar in the place of a list, a map or a structure is "Unexpected field type".
absl::Status NotListError(element e);
absl::Status NotMapError(element e, std::string_view value_shape);
absl::Status NotStructureError(element e, std::string_view shape);
absl::Status NotStringError(element e);
absl::Status NotBooleanError(element e);

// A boolean or a word for it. False if it is neither.
bool GetFlag(element e, bool* flag);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_JSON_DOM_H_
