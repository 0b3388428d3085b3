#ifndef ARMATURE_DAEMON_MESSAGE_JSON_MESSAGE_NAMES_H_
#define ARMATURE_DAEMON_MESSAGE_JSON_MESSAGE_NAMES_H_

// Names of fields, enum values and messages of the API in the documented JSON, for the JSON front and the command line.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "storage/base/strings.h"

namespace armature::daemon {

// "sse_specification" -> "SSESpecification", "creation_date_time_ms" -> "CreationDateTime".
std::string JsonName(std::string_view field_name);

// True if the field is a time in milliseconds, which JSON writes as a number of seconds and without the suffix.
bool IsTime(const google::protobuf::FieldDescriptor& field);

// The value of an enum without the name of its type: "HASH" of KEY_TYPE_HASH. A number without a name is a decimal
// text.
std::string_view EnumText(const google::protobuf::EnumValueDescriptor& value);
std::string EnumText(const google::protobuf::EnumDescriptor& type, int number);
// The enum value with name `text`. Null if there is none, and for the zero value, which represents an absent member.
const google::protobuf::EnumValueDescriptor* FindEnumValue(const google::protobuf::EnumDescriptor& type,
                                                           std::string_view text);

// The only field of a message that wraps a list, because protobuf cannot tell an empty list from an absent one, and has
// no maps of lists. JSON has the list itself. Null for other messages.
const google::protobuf::FieldDescriptor* WrappedList(const google::protobuf::Descriptor& type);

// The JSON form of a number.
enum class NumberForm : uint8_t {
  kPlain,
  kTime,          // milliseconds since 1970 as seconds with a fraction
  kWholeSeconds,  // milliseconds as whole seconds
};

// The dialects of JSON.
enum class Dialect : uint8_t {
  kProtocol,  // the documented JSON
  // The JSON of the command line. It differs from the documented one: numbers have the unit of their field, and empty
  // texts and lists are left out.
  kTools,
};

// The JSON form of a message.
struct JsonShape {
  struct Member {
    const google::protobuf::FieldDescriptor* field;
    std::string name;
    NumberForm form = NumberForm::kPlain;
    bool is_always_written = false;  // even if the text or the list is empty
  };

  std::string name;             // as in error texts, such as "SSESpecification"
  std::vector<Member> members;  // in the order of the message's fields
  StringMap<size_t> by_name;
  // Members of a request that are documented but not available.
  std::vector<std::string_view> not_available;
};

// The shape of messages of `type`. It exists as long as the process. Thread-safe.
const JsonShape& ShapeOf(const google::protobuf::Descriptor& type, Dialect dialect = Dialect::kProtocol);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_MESSAGE_JSON_MESSAGE_NAMES_H_
