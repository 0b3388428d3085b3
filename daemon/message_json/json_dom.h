#ifndef ARMATURE_DAEMON_MESSAGE_JSON_JSON_DOM_H_
#define ARMATURE_DAEMON_MESSAGE_JSON_JSON_DOM_H_

// Internal to the JSON readers: the parser's view of a document.

#include <bit>
#include <cstring>
#include <string_view>

#include <simdjson.h>
#include "absl/status/status.h"
#include "daemon/message_json/json_reader.h"

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

// The value, whose type has been checked.
template <class T>
T Get(element e) {
  T value;
  if (e.get(value) != simdjson::SUCCESS) return T();
  return value;
}
inline std::string_view GetText(element e) { return Get<std::string_view>(e); }

// Errors for values of the wrong type.

// `java_type`: a Java type with its package, such as "java.lang.String".
absl::Status NotScalarError(element e, std::string_view java_type);
// A scalar in place of a list, a map or a structure is an "Unexpected field type".
absl::Status NotListError(element e);
absl::Status NotMapError(element e, std::string_view value_shape);
absl::Status NotStructureError(element e, std::string_view shape);
absl::Status NotStringError(element e);
absl::Status NotBooleanError(element e);

// Reads a boolean or a word for one. False if `e` is neither.
bool GetFlag(element e, bool* flag);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_MESSAGE_JSON_JSON_DOM_H_
