#ifndef ARMATURE_TESTS_UNIT_JSON_DOCUMENT_TEST_UTIL_H_
#define ARMATURE_TESTS_UNIT_JSON_DOCUMENT_TEST_UTIL_H_

// Documents of the control plane as messages and back.

#include <simdjson.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/json/json_writer.h"
#include "daemon/json/message_reader.h"
#include "daemon/json/message_writer.h"

namespace armature::daemon {

// The message of a request.
template <class Message>
absl::StatusOr<Message> ReadAs(const std::string& json) {
  Message message;
  if (absl::Status status = ReadRequest(json, &message); !status.ok()) return status;
  return message;
}

inline std::string Written(const google::protobuf::Message& answer) {
  JsonWriter writer;
  WriteAnswer(answer, &writer);
  return writer.Take();
}

inline void AppendSorted(simdjson::dom::element value, std::string* to) {
  if (value.is_object()) {
    std::vector<std::pair<std::string, std::string>> members;
    for (const auto member : simdjson::dom::object(value.get_object().value_unsafe())) {
      AppendSorted(member.value, &members.emplace_back(std::string(member.key), "").second);
    }
    std::sort(members.begin(), members.end());
    *to += "{";
    for (const auto& [name, text] : members) *to += "\"" + name + "\":" + text + ",";
    *to += "}";
  } else if (value.is_array()) {
    *to += "[";
    for (const simdjson::dom::element each : simdjson::dom::array(value.get_array().value_unsafe())) {
      AppendSorted(each, to);
      *to += ",";
    }
    *to += "]";
  } else {
    *to += simdjson::to_string(value);
  }
}

// A document with the members of its objects in the order of their names, which means nothing; what is no document
// stays as it is.
inline std::string Sorted(const std::string& json) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(json).get(root) != simdjson::SUCCESS) return json;
  std::string sorted;
  AppendSorted(root, &sorted);
  return sorted;
}

}  // namespace armature::daemon

#endif  // ARMATURE_TESTS_UNIT_JSON_DOCUMENT_TEST_UTIL_H_
