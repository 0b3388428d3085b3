#include "tools/armature/plain_json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "daemon/message_json/base64.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"
#include "tools/armature/json_text.h"

namespace armature::cli {
namespace {

using api::v1::AttributeValue;
using api::v1::Item;
using ValueMap = google::protobuf::Map<std::string, AttributeValue>;

// Longest number without an exponent that is printed without quotes. All stored numbers are shorter. The JSON parser
// refuses numbers beyond the range of a double, which have at least 309 characters.
constexpr size_t kBareNumberMaxBytes = 300;

enum class JsonKind { kNull, kBoolean, kNumber, kString, kArray, kObject };

std::string_view KindName(JsonKind type) {
  constexpr std::string_view kNames[] = {"null", "boolean", "number", "string", "array", "object"};
  return kNames[static_cast<size_t>(type)];
}

// A JSON value with the text of its numbers.
struct JsonNode {
  JsonKind type = JsonKind::kNull;
  bool boolean = false;
  std::string text;             // of a number or a string
  std::vector<JsonNode> nodes;  // of an array or an object
  std::vector<std::string> names;
};

// Builds a JsonNode from the events of the parser of nlohmann-json, whose own values would round numbers. The names of
// the functions are the parser's.
class JsonNodeBuilder {
 public:
  bool null() { return Add(JsonKind::kNull, ""); }
  bool boolean(bool value) {
    if (!Add(JsonKind::kBoolean, "")) return false;
    last_->boolean = value;
    return true;
  }
  bool number_integer(int64_t value) { return Add(JsonKind::kNumber, Cat(value)); }
  bool number_unsigned(uint64_t value) { return Add(JsonKind::kNumber, Cat(value)); }
  bool number_float(double /*value*/, const std::string& text) { return Add(JsonKind::kNumber, text); }
  bool string(const std::string& text) { return Add(JsonKind::kString, text); }
  bool binary(const nlohmann::json::binary_t& /*value*/) { return false; }
  bool start_object(size_t /*size*/) { return Open(JsonKind::kObject); }
  bool start_array(size_t /*size*/) { return Open(JsonKind::kArray); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }
  bool key(const std::string& name) {
    if (!open_names_.back().insert(name).second) return Fail(Cat("member \"", name, "\" occurs twice"));
    open_.back()->names.push_back(name);
    return true;
  }
  bool parse_error(size_t /*position*/, const std::string& /*token*/, const nlohmann::json::exception& error) {
    // The message begins with "[json.exception.parse_error.101] ", which is of no use to the user.
    const std::string_view message = error.what();
    const size_t bracket = message.find("] ");
    fault_ = Cat("not valid JSON: ", bracket == std::string_view::npos ? message : message.substr(bracket + 2));
    return false;
  }

  const std::string& fault() const { return fault_; }
  const JsonNode& root() const { return root_; }

 private:
  bool Add(JsonKind type, std::string text) {
    last_ = open_.empty() ? &root_ : &open_.back()->nodes.emplace_back();
    last_->type = type;
    last_->text = std::move(text);
    return true;
  }
  bool Open(JsonKind type) {
    if (open_.size() >= kJsonDepthMax) return Fail("nested too deeply");
    Add(type, "");
    // Elements are added to the innermost open node only, so that the others do not move.
    open_.push_back(last_);
    open_names_.emplace_back();
    return true;
  }
  bool Close() {
    open_.pop_back();
    open_names_.pop_back();
    return true;
  }
  bool Fail(std::string_view fault) {
    const std::string path = Path();
    fault_ = path.empty() ? std::string(fault) : Cat(path, ": ", fault);
    return false;
  }
  // The path of the innermost open node.
  std::string Path() const {
    std::string path;
    for (size_t i = 0; i + 1 < open_.size(); ++i) {
      const JsonNode& node = *open_[i];
      if (node.type == JsonKind::kObject) {
        path += Cat(path.empty() ? "" : ".", node.names.back());
      } else {
        path += Cat("[", node.nodes.size() - 1, "]");
      }
    }
    return path;
  }

  JsonNode root_;
  JsonNode* last_ = nullptr;
  std::vector<JsonNode*> open_;
  std::vector<std::set<std::string>> open_names_;  // of the members of each open object
  std::string fault_;
};

absl::Status ParseNode(std::string_view json, JsonNodeBuilder* builder) {
  if (nlohmann::json::sax_parse(json, builder)) return absl::OkStatus();
  return absl::InvalidArgumentError(builder->fault());
}

// The JSON type that makes an object with this single name a typed value; false if the name is no type.
bool IsTyped(std::string_view name, JsonKind content) {
  if (name == "S" || name == "B") return content == JsonKind::kString;
  if (name == "N") return content == JsonKind::kString || content == JsonKind::kNumber;
  if (name == "BOOL" || name == "NULL") return content == JsonKind::kBoolean;
  if (name == "SS" || name == "NS" || name == "BS" || name == "L") return content == JsonKind::kArray;
  return name == "M" && content == JsonKind::kObject;
}

bool IsTyped(const JsonNode& node) {
  return node.type == JsonKind::kObject && node.nodes.size() == 1 &&
         IsTyped(node.names.front(), node.nodes.front().type);
}

// Turns nodes into values.
class PlainReader {
 public:
  absl::Status ReadItem(const JsonNode& node, Item* item) {
    if (node.type != JsonKind::kObject) return WrongType("an object", node);
    return ReadMembers(node, 1, item->mutable_attributes());
  }

  // `depth`: the level of nesting of the value, from 1.
  absl::Status Read(const JsonNode& node, int depth, AttributeValue* value) {
    if (depth > model::kNestingDepthMax) return Wrong(Cat("nests deeper than ", model::kNestingDepthMax, " levels"));
    if (IsTyped(node)) {
      return Inside(Step(node.names.front()),
                    [&] { return ReadTyped(node.names.front(), node.nodes.front(), depth, value); });
    }
    switch (node.type) {
      case JsonKind::kNull:
        value->set_null(true);
        return absl::OkStatus();
      case JsonKind::kBoolean:
        value->set_bool_(node.boolean);
        return absl::OkStatus();
      case JsonKind::kNumber:
        value->set_n(node.text);
        return absl::OkStatus();
      case JsonKind::kString:
        value->set_s(node.text);
        return absl::OkStatus();
      case JsonKind::kArray:
        return ReadList(node, depth, value->mutable_l());
      case JsonKind::kObject:
        return ReadMembers(node, depth + 1, value->mutable_m()->mutable_entries());
    }
    return Wrong("has no type");
  }

 private:
  absl::Status Wrong(std::string_view fault) const {
    return absl::InvalidArgumentError(path_.empty() ? std::string(fault) : Cat(path_, ": ", fault));
  }
  absl::Status WrongType(std::string_view expected, const JsonNode& node) const {
    return Wrong(Cat("must be ", expected, ", not ", KindName(node.type)));
  }

  std::string Step(std::string_view name) const { return Cat(path_.empty() ? "" : ".", name); }
  template <class Function>
  absl::Status Inside(const std::string& step, const Function& function) {
    const size_t outside = path_.size();
    path_ += step;
    absl::Status status = function();
    path_.resize(outside);
    return status;
  }

  // `depth`: the level of the members.
  absl::Status ReadMembers(const JsonNode& node, int depth, ValueMap* values) {
    for (size_t i = 0; i < node.nodes.size(); ++i) {
      ARM_RETURN_IF_ERROR(
          Inside(Step(node.names[i]), [&] { return Read(node.nodes[i], depth, &(*values)[node.names[i]]); }));
    }
    return absl::OkStatus();
  }

  template <class Function>
  absl::Status ForEach(const JsonNode& node, const Function& function) {
    size_t i = 0;
    for (const JsonNode& each : node.nodes) {
      ARM_RETURN_IF_ERROR(Inside(Cat("[", i++, "]"), [&] { return function(each); }));
    }
    return absl::OkStatus();
  }

  // `depth`: the level of the list itself.
  absl::Status ReadList(const JsonNode& node, int depth, api::v1::ListValue* list) {
    return ForEach(node, [&](const JsonNode& each) { return Read(each, depth + 1, list->add_values()); });
  }

  absl::Status ReadText(const JsonNode& node, std::string* text) const {
    if (node.type != JsonKind::kString) return WrongType("a string", node);
    *text = node.text;
    return absl::OkStatus();
  }
  absl::Status ReadNumber(const JsonNode& node, std::string* text) const {
    if (node.type != JsonKind::kNumber) return ReadText(node, text);
    *text = node.text;
    return absl::OkStatus();
  }
  absl::Status ReadBytes(const JsonNode& node, std::string* bytes) const {
    if (node.type != JsonKind::kString) return WrongType("a string in base64", node);
    if (node.text.size() % 4 == 0) {
      bytes->resize(daemon::DecodedSize(node.text));
      if (daemon::DecodeBase64(node.text, bytes->data())) return absl::OkStatus();
    }
    return Wrong("must be base64 with padding");
  }

  // The content of a typed value, which has the JSON type of `type`.
  absl::Status ReadTyped(const std::string& type, const JsonNode& node, int depth, AttributeValue* value) {
    if (type == "S") return ReadText(node, value->mutable_s());
    if (type == "N") return ReadNumber(node, value->mutable_n());
    if (type == "B") return ReadBytes(node, value->mutable_b());
    if (type == "L") return ReadList(node, depth, value->mutable_l());
    if (type == "M") return ReadMembers(node, depth + 1, value->mutable_m()->mutable_entries());
    if (type == "BOOL") {
      value->set_bool_(node.boolean);
      return absl::OkStatus();
    }
    if (type == "NULL") {
      value->set_null(true);
      return node.boolean ? absl::OkStatus() : Wrong("must be true");
    }
    if (node.nodes.empty()) return Wrong("a set must not be empty");
    if (type == "SS") {
      auto* const texts = value->mutable_ss();
      return ForEach(node, [&](const JsonNode& each) { return ReadText(each, texts->add_values()); });
    }
    if (type == "NS") {
      auto* const numbers = value->mutable_ns();
      return ForEach(node, [&](const JsonNode& each) { return ReadNumber(each, numbers->add_values()); });
    }
    auto* const binaries = value->mutable_bs();
    return ForEach(node, [&](const JsonNode& each) { return ReadBytes(each, binaries->add_values()); });
  }

  std::string path_;
};

// True if the JSON number `text` is read as this very text.
bool IsBareNumber(std::string_view text) {
  if (text.size() > kBareNumberMaxBytes || text == "-0") return false;
  if (text.starts_with('-')) text.remove_prefix(1);
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const auto digits = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!digits(whole) || (whole.size() > 1 && whole.front() == '0')) return false;
  return point == std::string_view::npos || digits(text.substr(point + 1));
}

std::string Base64Text(std::string_view bytes) { return absl::Base64Escape(Av(bytes)); }

// The JSON type that AppendValue prints the value as.
JsonKind PrintedType(const AttributeValue& value) {
  switch (value.value_case()) {
    case AttributeValue::kS:
      return JsonKind::kString;
    case AttributeValue::kN:
      return IsBareNumber(value.n()) ? JsonKind::kNumber : JsonKind::kObject;
    case AttributeValue::kBool:
      return JsonKind::kBoolean;
    case AttributeValue::kL:
      return JsonKind::kArray;
    case AttributeValue::kNull:
    case AttributeValue::VALUE_NOT_SET:
      return JsonKind::kNull;
    default:
      return JsonKind::kObject;
  }
}

std::vector<NamedValue> SortedValues(const ValueMap& values) {
  std::vector<NamedValue> sorted;
  sorted.reserve(values.size());
  for (const auto& [name, value] : values) sorted.emplace_back(name, &value);
  std::sort(sorted.begin(), sorted.end(), [](const NamedValue& a, const NamedValue& b) { return a.first < b.first; });
  return sorted;
}

// Appends \uXXXX for a code point below 0x10000.
void AppendEscape(unsigned code, std::string* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out->append("\\u");
  for (const unsigned shift : {12U, 8U, 4U, 0U}) out->push_back(kDigits[code >> shift & 15U]);
}

// Code point of a character of several bytes that must not reach a terminal, and that YAML takes for a line break: a
// control character above ASCII, or a separator of lines. 0 for all others.
unsigned HiddenControl(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(0) == 0xc2 && byte(1) < 0xa0) return byte(1);
  if (byte(0) == 0xe2 && byte(1) == 0x80 && (byte(2) == 0xa8 || byte(2) == 0xa9)) return 0x2000U + (byte(2) - 0x80);
  return 0;
}

void AppendQuoted(std::string_view text, std::string* out) {
  out->push_back('"');
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (c == '\n') {
      out->append("\\n");
    } else if (c == '\r') {
      out->append("\\r");
    } else if (c == '\t') {
      out->append("\\t");
    } else if (byte < 0x20 || byte == 0x7f) {
      AppendEscape(byte, out);
    } else if (const unsigned code = byte < 0x80 ? 0 : HiddenControl(text.substr(i)); code > 0) {
      AppendEscape(code, out);
      i += code < 0x100 ? 1 : 2;
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

// Elements between `open` and `close`. `append` appends an element.
template <class Elements, class Function>
void AppendSequence(std::string_view open, const Elements& elements, std::string_view close, const Function& append,
                    std::string* out) {
  out->append(open);
  bool is_first = true;
  for (const auto& element : elements) {
    if (!is_first) out->append(", ");
    is_first = false;
    append(element);
  }
  out->append(close);
}

void AppendValue(const AttributeValue& value, std::string* out);

void AppendMembers(const std::vector<NamedValue>& members, std::string* out) {
  const auto append = [out](const NamedValue& member) {
    AppendQuoted(member.first, out);
    out->append(": ");
    AppendValue(*member.second, out);
  };
  AppendSequence("{", members, "}", append, out);
}

void AppendMap(const ValueMap& values, std::string* out) {
  const bool looks_typed = values.size() == 1 && IsTyped(values.begin()->first, PrintedType(values.begin()->second));
  if (looks_typed) out->append(R"({"M": )");
  AppendMembers(SortedValues(values), out);
  if (looks_typed) out->append("}");
}

void AppendValue(const AttributeValue& value, std::string* out) {
  const auto quoted = [out](const std::string& text) { AppendQuoted(text, out); };
  switch (value.value_case()) {
    case AttributeValue::kS:
      AppendQuoted(value.s(), out);
      break;
    case AttributeValue::kN:
      out->append(IsBareNumber(value.n()) ? value.n() : Cat(R"({"N": )", QuotedJson(value.n()), "}"));
      break;
    case AttributeValue::kB:
      out->append(Cat(R"({"B": ")", Base64Text(value.b()), R"("})"));
      break;
    case AttributeValue::kBool:
      out->append(value.bool_() ? "true" : "false");
      break;
    case AttributeValue::kSs:
      AppendSequence(R"({"SS": [)", value.ss().values(), "]}", quoted, out);
      break;
    case AttributeValue::kNs:
      AppendSequence(R"({"NS": [)", value.ns().values(), "]}",
                     [out](const std::string& text) { out->append(IsBareNumber(text) ? text : QuotedJson(text)); },
                     out);
      break;
    case AttributeValue::kBs:
      AppendSequence(R"({"BS": [)", value.bs().values(), "]}",
                     [&quoted](const std::string& bytes) { quoted(Base64Text(bytes)); }, out);
      break;
    case AttributeValue::kL:
      AppendSequence(
          "[", value.l().values(), "]", [out](const AttributeValue& each) { AppendValue(each, out); }, out);
      break;
    case AttributeValue::kM:
      AppendMap(value.m().entries(), out);
      break;
    case AttributeValue::kNull:
    case AttributeValue::VALUE_NOT_SET:
      out->append("null");
      break;
  }
}

}  // namespace

absl::StatusOr<Item> ItemFromPlain(std::string_view json) {
  JsonNodeBuilder builder;
  ARM_RETURN_IF_ERROR(ParseNode(json, &builder));
  Item item;
  ARM_RETURN_IF_ERROR(PlainReader().ReadItem(builder.root(), &item));
  return item;
}

absl::StatusOr<AttributeValue> ValueFromPlain(std::string_view json) {
  JsonNodeBuilder builder;
  ARM_RETURN_IF_ERROR(ParseNode(json, &builder));
  AttributeValue value;
  ARM_RETURN_IF_ERROR(PlainReader().Read(builder.root(), 1, &value));
  return value;
}

std::vector<NamedValue> OrderedAttributes(const Item& item, const std::vector<std::string>& first) {
  std::vector<NamedValue> ordered = SortedValues(item.attributes());
  auto place = ordered.begin();
  for (const std::string& name : first) {
    const auto found = std::find_if(place, ordered.end(), [&](const NamedValue& each) { return each.first == name; });
    if (found != ordered.end()) std::rotate(place++, found, found + 1);
  }
  return ordered;
}

std::string PlainItem(const Item& item, const std::vector<std::string>& first) {
  std::string text;
  AppendMembers(OrderedAttributes(item, first), &text);
  return text;
}

std::string PlainValue(const AttributeValue& value) {
  std::string text;
  AppendValue(value, &text);
  return text;
}

std::string QuotedJson(std::string_view text) {
  std::string quoted;
  AppendQuoted(text, &quoted);
  return quoted;
}

}  // namespace armature::cli
