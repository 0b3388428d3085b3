#ifndef ARMATURE_DAEMON_MESSAGE_JSON_JSON_READER_H_
#define ARMATURE_DAEMON_MESSAGE_JSON_JSON_READER_H_

// Typed access to the document of a request.
//
// Each function converts one value to the required type. Values are visited in document order, so the first of several
// faults is reported. Unknown members are ignored, and null is an absent member. Among members with the same name the
// last one counts.
//
// Thread-safety: a document and its values belong to one thread.
// Errors: SerializationException with the documented texts.
// Source: the service's answers to wrong JSON types.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/base/strings.h"

namespace armature::daemon {

// A value of a document. Lifetime: points into the document.
class JsonValue {
 private:
  friend class JsonDom;  // json_dom.h: the parser's type
  alignas(uint64_t) unsigned char bits_[16] = {};
};

// Text of the error of a text that is no document. Logs have it; the answer of the JSON protocol to it has none.
inline constexpr std::string_view kNoDocumentText = "The body is no JSON document of a request";

// A parsed document.
//
// Cost: one pass over the text. Each thread caches a parser for documents of usual size. The parser of a larger
// document, up to 15 times its text, is freed with it.
class JsonDocument {
 public:
  // Maximum nesting of arrays and objects: deeper than the limit at which the engine refuses values with a text of its
  // own.
  static constexpr size_t kDepthMax = 512;
  // Larger than any front end accepts.
  static constexpr size_t kTextBytesMax = size_t{32} << 20;

  // The parser reads so many bytes beyond the end of a text, or copies it.
  static constexpr size_t kPadding = 64;

  // `text` must be one JSON text in UTF-8 and is used during the call only. It is not copied if its capacity exceeds
  // its size by kPadding bytes. Errors: SerializationException with kNoDocumentText, also if the document is not an
  // object, too deep or too large, or has an integer beyond 64 bits or a number beyond the range of a double.
  static absl::StatusOr<JsonDocument> Parse(const std::string& text);
  // Parses a document that need not be an object.
  static absl::StatusOr<JsonDocument> ParseAny(const std::string& text);

  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) = delete;
  ~JsonDocument();

  JsonValue root() const { return root_; }

 private:
  struct Parser;
  explicit JsonDocument(std::unique_ptr<Parser> parser);
  // The parser of this thread; null if there is none or a document uses it.
  static std::unique_ptr<Parser>& KeptParser();

  std::unique_ptr<Parser> parser_;
  JsonValue root_;
};

bool IsNull(JsonValue value);

using MemberReader = absl::FunctionRef<absl::Status(std::string_view name, JsonValue value)>;
using ElementReader = absl::FunctionRef<absl::Status(JsonValue value)>;

// Reads a structure: `read` gets each member that is not null, and ignores unknown names. `shape` is the structure's
// name in the API, such as "KeySchemaElement". In a map or list, null is a structure without members.
absl::Status ReadStructure(JsonValue value, std::string_view shape, MemberReader read);

// Parses the document of a request whose structure is `shape`.
absl::Status ReadRequest(const std::string& json, std::string_view shape, MemberReader read);

// Reads a map: `read` gets each entry, null or not. `value_shape` is the API name of its values; empty for strings.
absl::Status ReadMap(JsonValue value, std::string_view value_shape, MemberReader read);

// Reads a list: `read` gets each element, null or not.
absl::Status ReadList(JsonValue value, ElementReader read);

absl::Status ReadString(JsonValue value, std::string* to);
// Reads a word of an enumeration. An empty one becomes kEmptyWord.
absl::Status ReadWord(JsonValue value, std::string* to);
// Reads a boolean, or one of the words for it.
absl::Status ReadBoolean(JsonValue value, bool* to);
// Reads an Integer or a Long of the API. Numbers beyond 64 bits become the nearest one; fractions are errors. A Long
// may be a string of digits, because a widespread graphical client sends capacity units this way.
absl::Status ReadInteger(JsonValue value, int64_t* to);
absl::Status ReadLong(JsonValue value, int64_t* to);
// Reads seconds since 1970, with or without a fraction, as milliseconds, limited to 64 bits.
absl::Status ReadTimestamp(JsonValue value, int64_t* to);
absl::Status ReadStringList(JsonValue value, std::vector<std::string>* to);
absl::Status ReadStringMap(JsonValue value, StringMap<std::string>* to);

// Readers of members that may be absent.
inline absl::Status ReadString(JsonValue value, std::optional<std::string>* to) {
  return ReadString(value, &to->emplace());
}
inline absl::Status ReadBoolean(JsonValue value, std::optional<bool>* to) { return ReadBoolean(value, &to->emplace()); }
inline absl::Status ReadInteger(JsonValue value, std::optional<int64_t>* to) {
  return ReadInteger(value, &to->emplace());
}
inline absl::Status ReadStringList(JsonValue value, std::optional<std::vector<std::string>>* to) {
  return ReadStringList(value, &to->emplace());
}
inline absl::Status ReadStringMap(JsonValue value, std::optional<StringMap<std::string>>* to) {
  return ReadStringMap(value, &to->emplace());
}

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_MESSAGE_JSON_JSON_READER_H_
