#ifndef ARMATURE_TESTS_UNIT_DAEMON_JSON_JSON_TEST_UTIL_H_
#define ARMATURE_TESTS_UNIT_DAEMON_JSON_JSON_TEST_UTIL_H_

// Short conversions between documents and items.

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "daemon/message_json/item_json.h"
#include "daemon/message_json/item_reader.h"
#include "daemon/message_json/json_reader.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/codec/item_codec.h"

namespace armature::daemon {

// "SerializationException: text", or the status if it is not an API error.
inline std::string ErrorTextOf(const absl::Status& status) {
  const std::optional<ApiError> error = GetApiError(status);
  return error.has_value() ? Cat(ApiErrorName(error->type), ": ", error->message) : status.ToString();
}

// The member "v" of an object, converted by `read`.
template <class T>
absl::StatusOr<T> ReadMember(const std::string& json, absl::Status (*read)(JsonValue, T*)) {
  ARM_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(json));
  T result{};
  ARM_RETURN_IF_ERROR(ReadStructure(document.root(), "Test", [&](std::string_view name, JsonValue value) {
    return name == "v" ? read(value, &result) : absl::OkStatus();
  }));
  return result;
}

// The wire form of an item in a document.
inline absl::StatusOr<std::string> WireOf(const std::string& json) {
  ARM_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(json));
  std::string wire;
  ARM_RETURN_IF_ERROR(ReadItem(document.root(), &wire));
  return wire;
}

// The canonical bytes of an item in a document.
inline absl::StatusOr<std::string> CanonicalOf(const std::string& json) {
  ARM_ASSIGN_OR_RETURN(const std::string wire, WireOf(json));
  ARM_ASSIGN_OR_RETURN(codec::CanonicalItem item, codec::CanonicalizeItem(wire));
  return std::move(item.bytes);
}

inline std::string JsonOf(std::string_view item_bytes) {
  JsonWriter writer;
  WriteItem(item_bytes, &writer);
  return writer.Take();
}

}  // namespace armature::daemon

#endif  // ARMATURE_TESTS_UNIT_DAEMON_JSON_JSON_TEST_UTIL_H_
