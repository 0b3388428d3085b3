#include "tools/armature/attribute_json.h"

#include <array>
#include <map>
#include <utility>

#include "absl/strings/escaping.h"
#include "google/protobuf/map.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

using api::v1::AttributeValue;
using ValueMap = google::protobuf::Map<std::string, AttributeValue>;

absl::Status Wrong(std::string_view path, std::string_view what) {
  return absl::InvalidArgumentError(path.empty() ? std::string(what) : Cat(path, ": ", what));
}

std::string Member(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : Cat(path, ".", name);
}

std::string Element(std::string_view path, size_t index) { return Cat(path, "[", index, "]"); }

absl::StatusOr<std::string> Text(const Json& json, std::string_view path) {
  if (!json.is_string()) {
    return Wrong(path,
                 Cat("must be a string, not ", json.type_name(), json.is_number() ? "; write numbers in quotes" : ""));
  }
  return json.get<std::string>();
}

absl::StatusOr<std::string> Bytes(const Json& json, std::string_view path) {
  ARM_ASSIGN_OR_RETURN(const std::string text, Text(json, path));
  std::string bytes;
  // Base64Unescape accepts blanks and missing padding. Its result must encode to the same text.
  if (!absl::Base64Unescape(text, &bytes) || absl::Base64Escape(bytes) != text) {
    return Wrong(path, "must be base64 with padding");
  }
  return bytes;
}

// Reads a set. `read` reads one element.
template <class Set, class Read>
absl::Status ReadSet(const Json& json, const std::string& path, Read read, Set* set) {
  if (!json.is_array()) return Wrong(path, Cat("must be an array, not ", json.type_name()));
  for (size_t i = 0; i < json.size(); ++i) {
    ARM_ASSIGN_OR_RETURN(std::string element, read(json[i], Element(path, i)));
    set->add_values(std::move(element));
  }
  return absl::OkStatus();
}

absl::Status ReadValue(const Json& json, const std::string& path, int depth, AttributeValue* value);

absl::Status ReadMap(const Json& json, const std::string& path, int depth, ValueMap* map) {
  if (!json.is_object()) return Wrong(path, Cat("must be an object, not ", json.type_name()));
  for (const auto& [name, member] : json.items()) {
    ARM_RETURN_IF_ERROR(ReadValue(member, Member(path, name), depth, &(*map)[name]));
  }
  return absl::OkStatus();
}

absl::Status ReadList(const Json& json, const std::string& path, int depth, api::v1::List* list) {
  if (!json.is_array()) return Wrong(path, Cat("must be an array, not ", json.type_name()));
  for (size_t i = 0; i < json.size(); ++i) {
    ARM_RETURN_IF_ERROR(ReadValue(json[i], Element(path, i), depth, list->add_values()));
  }
  return absl::OkStatus();
}

absl::Status ReadScalar(const std::string& tag, const Json& json, const std::string& path, AttributeValue* value) {
  if (tag == "B") {
    ARM_ASSIGN_OR_RETURN(*value->mutable_b(), Bytes(json, path));
  } else if (tag == "BOOL" || tag == "NULL") {
    if (!json.is_boolean()) {
      return Wrong(path, Cat("must be true or false, not ", json.type_name()));
    }
    tag == "NULL" ? value->set_null(json.get<bool>()) : value->set_bool_(json.get<bool>());
  } else {
    ARM_ASSIGN_OR_RETURN(std::string text, Text(json, path));
    tag == "S" ? value->set_s(std::move(text)) : value->set_n(std::move(text));
  }
  return absl::OkStatus();
}

absl::Status ReadValue(const Json& json, const std::string& path, int depth, AttributeValue* value) {
  if (depth > kValueDepthMax) {
    return Wrong(path, Cat("nests deeper than ", kValueDepthMax, " levels"));
  }
  if (!json.is_object() || json.size() != 1) {
    return Wrong(path, R"(must be an object with one member that names the type, such as {"S": "text"})");
  }
  const std::string& tag = json.begin().key();
  const Json& content = json.begin().value();
  const std::string inner = Member(path, tag);
  if (tag == "S" || tag == "N" || tag == "B" || tag == "BOOL" || tag == "NULL") {
    return ReadScalar(tag, content, inner, value);
  }
  if (tag == "SS") return ReadSet(content, inner, Text, value->mutable_ss());
  if (tag == "NS") return ReadSet(content, inner, Text, value->mutable_ns());
  if (tag == "BS") return ReadSet(content, inner, Bytes, value->mutable_bs());
  if (tag == "L") return ReadList(content, inner, depth + 1, value->mutable_l());
  if (tag == "M") return ReadMap(content, inner, depth + 1, value->mutable_m()->mutable_entries());
  return Wrong(path, Cat("\"", tag, "\" is no type; the types are S, N, B, BOOL, NULL, SS, NS, BS, L and M"));
}

Json MapToJson(const ValueMap& map) {
  std::map<std::string_view, const AttributeValue*> sorted;
  for (const auto& [name, value] : map) sorted.emplace(name, &value);
  Json json = Json::object();
  for (const auto& [name, value] : sorted) json[std::string(name)] = AttributeValueToJson(*value);
  return json;
}

template <class Values>
Json BinariesToJson(const Values& values) {
  Json json = Json::array();
  for (const std::string& bytes : values) json.push_back(absl::Base64Escape(bytes));
  return json;
}

template <class Values>
Json TextsToJson(const Values& values) {
  Json json = Json::array();
  for (const std::string& text : values) json.push_back(text);
  return json;
}

Json Tagged(const char* tag, Json content) {
  Json json = Json::object();
  json[tag] = std::move(content);
  return json;
}

}  // namespace

absl::StatusOr<AttributeValue> AttributeValueFromJson(const Json& json, std::string_view path) {
  AttributeValue value;
  ARM_RETURN_IF_ERROR(ReadValue(json, std::string(path), 1, &value));
  return value;
}

absl::StatusOr<api::v1::Item> ItemFromJson(const Json& json, std::string_view path) {
  api::v1::Item item;
  ARM_RETURN_IF_ERROR(ReadMap(json, std::string(path), 1, item.mutable_attributes()));
  return item;
}

Json AttributeValueToJson(const AttributeValue& value) {
  switch (value.value_case()) {
    case AttributeValue::kS:
      return Tagged("S", value.s());
    case AttributeValue::kN:
      return Tagged("N", value.n());
    case AttributeValue::kB:
      return Tagged("B", absl::Base64Escape(value.b()));
    case AttributeValue::kBool:
      return Tagged("BOOL", value.bool_());
    case AttributeValue::kNull:
      return Tagged("NULL", value.null());
    case AttributeValue::kSs:
      return Tagged("SS", TextsToJson(value.ss().values()));
    case AttributeValue::kNs:
      return Tagged("NS", TextsToJson(value.ns().values()));
    case AttributeValue::kBs:
      return Tagged("BS", BinariesToJson(value.bs().values()));
    case AttributeValue::kL: {
      Json list = Json::array();
      for (const AttributeValue& element : value.l().values()) {
        list.push_back(AttributeValueToJson(element));
      }
      return Tagged("L", std::move(list));
    }
    case AttributeValue::kM:
      return Tagged("M", MapToJson(value.m().entries()));
    case AttributeValue::VALUE_NOT_SET:
      break;
  }
  return Json::object();
}

Json ItemToJson(const api::v1::Item& item) { return MapToJson(item.attributes()); }

}  // namespace armature::cli
