#include "daemon/message_json/json_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include "daemon/message_json/json_dom.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

// Parsers for larger documents are not cached. One item in JSON always fits.
constexpr size_t kKeptTextBytesMax = size_t{640} << 10;
constexpr size_t kFirstTextBytes = size_t{16} << 10;

constexpr std::string_view kShapePackage = "com.amazonaws.dynamodb.v20120810.";

// Name of a scalar in error texts about its type.
std::string_view TokenOf(element e) {
  switch (e.type()) {
    case element_type::BOOL:
      return Get<bool>(e) ? "TRUE_VALUE" : "FALSE_VALUE";
    case element_type::DOUBLE:
      return "DECIMAL_VALUE";
    case element_type::INT64:
    case element_type::UINT64:
      return "NUMBER_VALUE";
    case element_type::NULL_VALUE:
      return "NULL_VALUE";
    default:
      return "STRING_VALUE";
  }
}

absl::Status NoDocumentError() { return SerializationError(kNoDocumentText); }

absl::Status CollectionError(std::string_view type) {
  return SerializationError(Cat("Unrecognized collection type ", type));
}

absl::Status MisplacedObjectError() { return SerializationError("Start of structure or map found where not expected"); }

absl::Status UnexpectedFieldError() { return SerializationError("Unexpected field type"); }

// Reads an Integer or Long, named by `java_type`.
absl::Status ReadNumber(JsonValue value, std::string_view java_type, int64_t* to) {
  const element e = JsonDom::Element(value);
  switch (e.type()) {
    case element_type::INT64:
      *to = Get<int64_t>(e);
      return absl::OkStatus();
    case element_type::UINT64:
      *to = std::numeric_limits<int64_t>::max();
      return absl::OkStatus();
    case element_type::DOUBLE: {
      // 1.0 and 1e3 are integers, too.
      const auto number = Get<double>(e);
      if (std::trunc(number) != number) return NotScalarError(e, java_type);
      constexpr double kLimit = 9.2e18;
      *to = static_cast<int64_t>(std::clamp(number, -kLimit, kLimit));
      return absl::OkStatus();
    }
    default:
      return NotScalarError(e, java_type);
  }
}

}  // namespace

absl::Status NotScalarError(element e, std::string_view java_type) {
  if (e.is_array()) return CollectionError(Cat("class ", java_type));
  if (e.is_object()) return MisplacedObjectError();
  return SerializationError(Cat(TokenOf(e), " cannot be converted to ", java_type.substr(java_type.rfind('.') + 1)));
}

absl::Status NotListError(element e) { return e.is_object() ? MisplacedObjectError() : UnexpectedFieldError(); }

absl::Status NotMapError(element e, std::string_view value_shape) {
  if (!e.is_array()) return UnexpectedFieldError();
  const std::string type = value_shape.empty() ? "java.lang.String" : Cat(kShapePackage, value_shape);
  return CollectionError(Cat("java.util.Map<java.lang.String, ", type, ">"));
}

absl::Status NotStructureError(element e, std::string_view shape) {
  return e.is_array() ? CollectionError(Cat("class ", kShapePackage, shape)) : UnexpectedFieldError();
}

absl::Status NotStringError(element e) { return NotScalarError(e, "java.lang.String"); }

absl::Status NotBooleanError(element e) {
  if (e.is_string()) return SerializationError("Unexpected token received from parser");
  return NotScalarError(e, "java.lang.Boolean");
}

bool GetFlag(element e, bool* flag) {
  if (e.get(*flag) == simdjson::SUCCESS) return true;
  if (!e.is_string()) return false;
  const auto is = [word = GetText(e)](std::string_view lower) {
    return std::equal(word.begin(), word.end(), lower.begin(), lower.end(),
                      [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b; });
  };
  *flag = is("true") || is("1") || is("yes");
  return *flag || is("false") || is("0") || is("no");
}

struct JsonDocument::Parser {
  simdjson::dom::parser parser;
  bool keep = true;
};

std::unique_ptr<JsonDocument::Parser>& JsonDocument::KeptParser() {
  thread_local std::unique_ptr<Parser> kept;
  return kept;
}

JsonDocument::JsonDocument(std::unique_ptr<Parser> parser) : parser_(std::move(parser)) {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;

JsonDocument::~JsonDocument() {
  if (parser_ != nullptr && parser_->keep) KeptParser() = std::move(parser_);
}

absl::StatusOr<JsonDocument> JsonDocument::Parse(const std::string& text) {
  absl::StatusOr<JsonDocument> document = ParseAny(text);
  if (document.ok() && !JsonDom::Element(document->root()).is_object()) return NoDocumentError();
  return document;
}

absl::StatusOr<JsonDocument> JsonDocument::ParseAny(const std::string& text) {
  if (text.size() > kTextBytesMax) return NoDocumentError();
  JsonDocument document(std::exchange(KeptParser(), nullptr));
  if (document.parser_ == nullptr) {
    document.parser_ = std::make_unique<Parser>();
    const auto error = document.parser_->parser.allocate(std::max(text.size(), kFirstTextBytes), kDepthMax);
    if (error != simdjson::SUCCESS) return absl::ResourceExhaustedError("no memory to parse a document");
  }
  document.parser_->keep = text.size() <= kKeptTextBytesMax;
  element root;
  const auto error = document.parser_->parser.parse(text).get(root);
  if (error == simdjson::MEMALLOC) return absl::ResourceExhaustedError("no memory to parse a document");
  if (error != simdjson::SUCCESS) return NoDocumentError();
  document.root_ = JsonDom::Value(root);
  return document;
}

bool IsNull(JsonValue value) { return JsonDom::Element(value).is_null(); }

absl::Status ReadStructure(JsonValue value, std::string_view shape, MemberReader read) {
  const element e = JsonDom::Element(value);
  if (e.is_null()) return absl::OkStatus();
  if (!e.is_object()) return NotStructureError(e, shape);
  for (const auto member : Get<simdjson::dom::object>(e)) {
    if (member.value.is_null()) continue;
    ARM_RETURN_IF_ERROR(read(member.key, JsonDom::Value(member.value)));
  }
  return absl::OkStatus();
}

absl::Status ReadRequest(const std::string& json, std::string_view shape, MemberReader read) {
  ARM_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(json));
  return ReadStructure(document.root(), shape, read);
}

absl::Status ReadMap(JsonValue value, std::string_view value_shape, MemberReader read) {
  const element e = JsonDom::Element(value);
  if (!e.is_object()) return NotMapError(e, value_shape);
  for (const auto member : Get<simdjson::dom::object>(e)) {
    ARM_RETURN_IF_ERROR(read(member.key, JsonDom::Value(member.value)));
  }
  return absl::OkStatus();
}

absl::Status ReadList(JsonValue value, ElementReader read) {
  const element e = JsonDom::Element(value);
  if (!e.is_array()) return NotListError(e);
  for (const element member : Get<simdjson::dom::array>(e)) ARM_RETURN_IF_ERROR(read(JsonDom::Value(member)));
  return absl::OkStatus();
}

absl::Status ReadString(JsonValue value, std::string* to) {
  const element e = JsonDom::Element(value);
  if (!e.is_string()) return NotStringError(e);
  *to = GetText(e);
  return absl::OkStatus();
}

absl::Status ReadWord(JsonValue value, std::string* to) {
  ARM_RETURN_IF_ERROR(ReadString(value, to));
  if (to->empty()) *to = kEmptyWord;
  return absl::OkStatus();
}

absl::Status ReadBoolean(JsonValue value, bool* to) {
  const element e = JsonDom::Element(value);
  return GetFlag(e, to) ? absl::OkStatus() : NotBooleanError(e);
}

absl::Status ReadLong(JsonValue value, int64_t* to) {
  const element e = JsonDom::Element(value);
  if (e.type() == element_type::STRING) {
    const std::string_view text = GetText(e);
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), *to);
    if (error == std::errc() && stop == text.data() + text.size()) return absl::OkStatus();
  }
  return ReadNumber(value, "java.lang.Long", to);
}

absl::Status ReadInteger(JsonValue value, int64_t* to) { return ReadNumber(value, "java.lang.Integer", to); }

absl::Status ReadTimestamp(JsonValue value, int64_t* to) {
  const element e = JsonDom::Element(value);
  double seconds = 0;
  if (e.get(seconds) != simdjson::SUCCESS) return NotScalarError(e, "java.util.Date");
  constexpr double kLimitMs = 9.2e18;
  *to = static_cast<int64_t>(std::clamp(std::round(seconds * 1000), -kLimitMs, kLimitMs));
  return absl::OkStatus();
}

absl::Status ReadStringList(JsonValue value, std::vector<std::string>* to) {
  to->clear();
  return ReadList(value, [to](JsonValue member) { return ReadString(member, &to->emplace_back()); });
}
absl::Status ReadStringMap(JsonValue value, StringMap<std::string>* to) {
  to->clear();
  return ReadMap(value, "",
                 [to](std::string_view key, JsonValue member) { return ReadString(member, &(*to)[std::string(key)]); });
}

}  // namespace armature::daemon
