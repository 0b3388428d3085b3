#ifndef ARMATURE_TESTS_UNIT_DAEMON_JSON_DOCUMENT_TEST_UTIL_H_
#define ARMATURE_TESTS_UNIT_DAEMON_JSON_DOCUMENT_TEST_UTIL_H_

// Conversions between documents of the control plane and messages.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/message_json/json_writer.h"
#include "daemon/message_json/message_documents.h"

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

// Removes a quoted text, a number or a word from the front of `rest`.
inline std::string TakeToken(std::string_view* rest) {
  size_t end = 1;
  if (rest->front() == '"') {
    while (end < rest->size() && (*rest)[end] != '"') end += (*rest)[end] == '\\' ? 2 : 1;
    ++end;
  } else {
    end = std::min(rest->find_first_of(",]}"), rest->size());
  }
  const std::string token(rest->substr(0, end));
  rest->remove_prefix(std::min(end, rest->size()));
  return token;
}

inline std::string TakeSorted(std::string_view* rest) {
  if (rest->empty() || (rest->front() != '{' && rest->front() != '[')) return rest->empty() ? "" : TakeToken(rest);
  const bool is_object = rest->front() == '{';
  std::vector<std::string> parts;
  rest->remove_prefix(1);
  while (!rest->empty() && rest->front() != '}' && rest->front() != ']') {
    if (rest->front() == ',') rest->remove_prefix(1);
    std::string part;
    if (is_object) {
      part = TakeToken(rest) + ":";
      rest->remove_prefix(1);
    }
    parts.push_back(part + TakeSorted(rest));
  }
  if (!rest->empty()) rest->remove_prefix(1);
  if (is_object) std::sort(parts.begin(), parts.end());
  std::string sorted = is_object ? "{" : "[";
  for (const std::string& part : parts) sorted += part + ",";
  return sorted + (is_object ? "}" : "]");
}

// A document without blanks and with sorted object members, for comparisons.
inline std::string Sorted(std::string_view json) { return TakeSorted(&json); }

}  // namespace armature::daemon

#endif  // ARMATURE_TESTS_UNIT_DAEMON_JSON_DOCUMENT_TEST_UTIL_H_
