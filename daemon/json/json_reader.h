#ifndef ARMATURE_DAEMON_JSON_JSON_READER_H_
#define ARMATURE_DAEMON_JSON_JSON_READER_H_

// Typed access to the document of a request.
//
// Each function coerces one value to the shape that its place demands. Values are seen in the order of the document, so
// of several faults the first one is told; unknown members are ignored, and null is an absent member. Of members with
// one name the last counts: a setter overwrites what an earlier one has set.
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
  friend class JsonDom;  // json_dom.h: what it is to the parser
  alignas(uint64_t) unsigned char bits_[16] = {};
};

// A parsed document.
//
// Cost: one pass over the text. Each thread keeps a parser for documents of usual sizes; what a larger one needs, up to
// 15 times its text, is freed with it.
class JsonDocument {
 public:
  // How deep arrays and objects may be nested: beyond the depth at which the engine refuses values with a text of its
  // own.
  static constexpr size_t kDepthMax = 512;
  // Beyond what any front lets through.
  static constexpr size_t kTextBytesMax = size_t{32} << 20;

  // `text` must be one JSON text in UTF-8. It need not live on; it is not copied if it has a capacity of 64 bytes more
  // than its size. Errors: SerializationException without a text, also if the document is no object, is too deep or too
  // large, or has an integer beyond 64 bits or a number beyond the range of a double, which no request needs.
  static absl::StatusOr<JsonDocument> Parse(const std::string& text);

  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) = delete;
  ~JsonDocument();

  JsonValue root() const { return root_; }

 private:
  struct Parser;
  explicit JsonDocument(std::unique_ptr<Parser> parser);
  // Of this thread; null if there is none or a document has it.
  static std::unique_ptr<Parser>& KeptParser();

  std::unique_ptr<Parser> parser_;
  JsonValue root_;
};

bool IsNull(JsonValue value);

using MemberReader = absl::FunctionRef<absl::Status(std::string_view name, JsonValue value)>;
using ElementReader = absl::FunctionRef<absl::Status(JsonValue value)>;

// A structure: `read` gets each member that is not null, and ignores names that it does not know. `shape` is the
// structure's name in the API, "KeySchemaElement". Null, in a map or list, is one without members.
absl::Status ReadStructure(JsonValue value, std::string_view shape, MemberReader read);

// The document of a request called `shape`: the structure `json`.
absl::Status ReadRequest(const std::string& json, std::string_view shape, MemberReader read);

// A map: `read` gets each entry, null or not. `value_shape` is the name of its values in the API; empty for strings.
absl::Status ReadMap(JsonValue value, std::string_view value_shape, MemberReader read);

// A list: `read` gets each element, null or not.
absl::Status ReadList(JsonValue value, ElementReader read);

absl::Status ReadString(JsonValue value, std::string* to);
absl::Status ReadString(JsonValue value, std::optional<std::string>* to);
// True and false, or one of the words that stand for them.
absl::Status ReadBoolean(JsonValue value, bool* to);
absl::Status ReadBoolean(JsonValue value, std::optional<bool>* to);
// An Integer or a Long of the API. Numbers beyond 64 bits become the nearest one; fractions are errors. A Long may come
// as a string of digits: its only members are capacity units, and a widespread graphical client sends them so.
absl::Status ReadInteger(JsonValue value, std::optional<int64_t>* to);
absl::Status ReadLong(JsonValue value, int64_t* to);
absl::Status ReadLong(JsonValue value, std::optional<int64_t>* to);
// Seconds since 1970, with a fraction or without, as milliseconds; beyond 64 bits the nearest ones.
absl::Status ReadTimestamp(JsonValue value, std::optional<int64_t>* to);
absl::Status ReadStringList(JsonValue value, std::vector<std::string>* to);
absl::Status ReadStringList(JsonValue value, std::optional<std::vector<std::string>>* to);
absl::Status ReadStringMap(JsonValue value, std::optional<StringMap<std::string>>* to);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_JSON_READER_H_
