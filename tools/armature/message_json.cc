#include "tools/armature/message_json.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/escaping.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/map.h"
#include "google/protobuf/repeated_field.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

using api::v1::AttributeValue;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using ValueMap = google::protobuf::Map<std::string, AttributeValue>;

absl::Status Wrong(std::string_view path, std::string_view what) {
  return absl::InvalidArgumentError(path.empty() ? std::string(what) : Cat(path, ": ", what));
}

absl::Status WrongType(std::string_view path, std::string_view expected, const Json& json) {
  return Wrong(path, Cat("must be ", expected, ", not ", json.type_name()));
}

std::string Member(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : Cat(path, ".", name);
}

// Calls `read` for each element of an array, with its path.
template <class Read>
absl::Status ForEachElement(const Json& json, std::string_view path, Read read) {
  if (!json.is_array()) return WrongType(path, "an array", json);
  for (size_t i = 0; i < json.size(); ++i) ARM_RETURN_IF_ERROR(read(json[i], Cat(path, "[", i, "]")));
  return absl::OkStatus();
}

// ---- Attribute values from JSON ----

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
  return ForEachElement(json, path, [read, set](const Json& element, const std::string& at) -> absl::Status {
    ARM_ASSIGN_OR_RETURN(*set->add_values(), read(element, at));
    return absl::OkStatus();
  });
}

absl::Status ReadScalar(const std::string& tag, const Json& json, const std::string& path, AttributeValue* value) {
  if (tag == "B") {
    ARM_ASSIGN_OR_RETURN(*value->mutable_b(), Bytes(json, path));
  } else if (tag == "BOOL" || tag == "NULL") {
    if (!json.is_boolean()) return WrongType(path, "true or false", json);
    tag == "NULL" ? value->set_null(json.get<bool>()) : value->set_bool_(json.get<bool>());
  } else {
    ARM_ASSIGN_OR_RETURN(std::string text, Text(json, path));
    tag == "S" ? value->set_s(std::move(text)) : value->set_n(std::move(text));
  }
  return absl::OkStatus();
}

absl::Status ReadValue(const Json& json, const std::string& path, int depth, AttributeValue* value);

absl::Status ReadMap(const Json& json, const std::string& path, int depth, ValueMap* map) {
  if (!json.is_object()) return WrongType(path, "an object", json);
  for (const auto& [name, member] : json.items()) {
    ARM_RETURN_IF_ERROR(ReadValue(member, Member(path, name), depth, &(*map)[name]));
  }
  return absl::OkStatus();
}

absl::Status ReadList(const Json& json, const std::string& path, int depth, api::v1::ListValue* list) {
  return ForEachElement(json, path, [depth, list](const Json& element, const std::string& at) {
    return ReadValue(element, at, depth, list->add_values());
  });
}

absl::Status ReadValue(const Json& json, const std::string& path, int depth, AttributeValue* value) {
  if (depth > kValueDepthMax) return Wrong(path, Cat("nests deeper than ", kValueDepthMax, " levels"));
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

// ---- Fields of messages from JSON ----

absl::StatusOr<const EnumValueDescriptor*> EnumFromJson(const Json& json, const std::string& path,
                                                        const EnumDescriptor& type) {
  if (!json.is_string()) return WrongType(path, "a string", json);
  const auto name = json.get<std::string>();
  const EnumValueDescriptor* const value = daemon::FindEnumValue(type, name);
  if (value != nullptr) return value;
  std::string known;
  for (int i = 1; i < type.value_count(); ++i) known += Cat(i == 1 ? "" : ", ", daemon::EnumText(*type.value(i)));
  return Wrong(path, Cat("\"", name, "\" is not one of ", known));
}

absl::StatusOr<int64_t> IntegerFromJson(const Json& json, const std::string& path, int64_t min, int64_t max) {
  if (!json.is_number_integer()) return WrongType(path, "an integer", json);
  const bool too_large = json.is_number_unsigned() && json.get<uint64_t>() > static_cast<uint64_t>(max);
  if (too_large || json.get<int64_t>() < min || json.get<int64_t>() > max) return Wrong(path, "is out of range");
  return json.get<int64_t>();
}

// The only field of a message that exists because the values of a map cannot be lists. JSON has the list itself.
const FieldDescriptor* ListOf(const google::protobuf::Descriptor& type) {
  const bool is_list = type.field_count() == 1 && type.field(0)->is_repeated() && type.name().ends_with("List") &&
                       &type != api::v1::ListValue::descriptor();
  return is_list ? type.field(0) : nullptr;
}

absl::Status ReadField(const Json& json, const std::string& path, const FieldDescriptor& field, Message* message);

absl::Status ReadMessage(const Json& json, const std::string& path, Message* message) {
  const FieldDescriptor* const list = ListOf(*message->GetDescriptor());
  if (list != nullptr) return ReadField(json, path, *list, message);
  auto* const value = dynamic_cast<AttributeValue*>(message);
  auto* const item = dynamic_cast<api::v1::Item*>(message);
  if (value == nullptr && item == nullptr) return MessageFromJson(json, path, message);
  message->Clear();
  return value != nullptr ? ReadValue(json, path, 1, value) : ReadMap(json, path, 1, item->mutable_attributes());
}

// Sets a singular field, or adds one element to a repeated one.
class FieldWriter {
 public:
  FieldWriter(Message* message, const FieldDescriptor* field)
      : message_(message), field_(field), reflection_(message->GetReflection()) {}

  absl::Status Write(const Json& json, const std::string& path) {
    switch (field_->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        if (!json.is_string()) return WrongType(path, "a string", json);
        Set(&Reflection::SetString, &Reflection::AddString, json.get<std::string>());
        return absl::OkStatus();
      case FieldDescriptor::CPPTYPE_BOOL:
        if (!json.is_boolean()) return WrongType(path, "true or false", json);
        Set(&Reflection::SetBool, &Reflection::AddBool, json.get<bool>());
        return absl::OkStatus();
      case FieldDescriptor::CPPTYPE_ENUM: {
        ARM_ASSIGN_OR_RETURN(const EnumValueDescriptor* value, EnumFromJson(json, path, *field_->enum_type()));
        Set(&Reflection::SetEnum, &Reflection::AddEnum, value);
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return ReadMessage(json, path,
                           field_->is_repeated() ? reflection_->AddMessage(message_, field_)
                                                 : reflection_->MutableMessage(message_, field_));
      case FieldDescriptor::CPPTYPE_INT32:
        return WriteInteger<int32_t>(json, path, &Reflection::SetInt32, &Reflection::AddInt32);
      case FieldDescriptor::CPPTYPE_INT64:
        return WriteInteger<int64_t>(json, path, &Reflection::SetInt64, &Reflection::AddInt64);
      case FieldDescriptor::CPPTYPE_UINT64:
        return WriteInteger<uint64_t>(json, path, &Reflection::SetUInt64, &Reflection::AddUInt64);
      default:
        return Wrong(path, "cannot be set");
    }
  }

 private:
  template <class Setter, class Adder, class Value>
  void Set(Setter set, Adder add, const Value& value) {
    field_->is_repeated() ? (reflection_->*add)(message_, field_, value) : (reflection_->*set)(message_, field_, value);
  }

  template <class Integer, class Setter, class Adder>
  absl::Status WriteInteger(const Json& json, const std::string& path, Setter set, Adder add) {
    using Limits = std::numeric_limits<std::conditional_t<sizeof(Integer) == 4, int32_t, int64_t>>;
    const int64_t min = std::is_unsigned_v<Integer> ? 0 : Limits::min();
    ARM_ASSIGN_OR_RETURN(const int64_t value, IntegerFromJson(json, path, min, Limits::max()));
    Set(set, add, static_cast<Integer>(value));
    return absl::OkStatus();
  }

  Message* message_;
  const FieldDescriptor* field_;
  const Reflection* reflection_;
};

absl::Status ReadMapField(const Json& json, const std::string& path, const FieldDescriptor& field, Message* message) {
  if (!json.is_object()) return WrongType(path, "an object", json);
  for (const auto& [name, member] : json.items()) {
    Message* entry = message->GetReflection()->AddMessage(message, &field);
    entry->GetReflection()->SetString(entry, field.message_type()->map_key(), name);
    ARM_RETURN_IF_ERROR(FieldWriter(entry, field.message_type()->map_value()).Write(member, Cat(path, ".", name)));
  }
  return absl::OkStatus();
}

absl::Status ReadField(const Json& json, const std::string& path, const FieldDescriptor& field, Message* message) {
  if (!field.is_repeated()) return FieldWriter(message, &field).Write(json, path);
  message->GetReflection()->ClearField(message, &field);
  if (field.is_map()) return ReadMapField(json, path, field, message);
  return ForEachElement(json, path, [&field, message](const Json& element, const std::string& at) {
    return FieldWriter(message, &field).Write(element, at);
  });
}

// ---- Messages to JSON ----

Json ValuesToJson(const ValueMap& map) {
  std::map<std::string_view, const AttributeValue*> sorted;
  for (const auto& [name, value] : map) sorted.emplace(name, &value);
  Json json = Json::object();
  for (const auto& [name, value] : sorted) json[std::string(name)] = AttributeValueToJson(*value);
  return json;
}

Json SetToJson(const google::protobuf::RepeatedPtrField<std::string>& values, bool is_binary = false) {
  Json json = Json::array();
  for (const std::string& value : values) json.push_back(is_binary ? absl::Base64Escape(value) : value);
  return json;
}

Json Tagged(const char* tag, Json content) {
  Json json = Json::object();
  json[tag] = std::move(content);
  return json;
}

Json ListToJson(const Message& message, const FieldDescriptor& field);

Json SubmessageToJson(const Message& message) {
  if (const FieldDescriptor* const list = ListOf(*message.GetDescriptor())) return ListToJson(message, *list);
  if (const auto* value = dynamic_cast<const AttributeValue*>(&message)) return AttributeValueToJson(*value);
  if (const auto* item = dynamic_cast<const api::v1::Item*>(&message)) return ItemToJson(*item);
  return MessageToJson(message);
}

Json SingularToJson(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.GetString(message, &field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(message, &field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return std::string(daemon::EnumText(*reflection.GetEnum(message, &field)));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return SubmessageToJson(reflection.GetMessage(message, &field));
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.GetInt32(message, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      if (daemon::IsTime(field)) return static_cast<double>(reflection.GetInt64(message, &field)) / 1000.0;
      return reflection.GetInt64(message, &field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection.GetUInt32(message, &field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return reflection.GetUInt64(message, &field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.GetDouble(message, &field);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection.GetFloat(message, &field);
  }
  return nullptr;
}

Json MapToJson(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  std::map<std::string, Json> sorted;
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    sorted.emplace(entry.GetReflection()->GetString(entry, field.message_type()->map_key()),
                   SingularToJson(entry, *field.message_type()->map_value()));
  }
  Json json = Json::object();
  for (auto& [name, value] : sorted) json[name] = std::move(value);
  return json;
}

Json ListToJson(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  Json json = Json::array();
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        json.push_back(SubmessageToJson(reflection.GetRepeatedMessage(message, &field, i)));
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        json.push_back(reflection.GetRepeatedString(message, &field, i));
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        json.push_back(reflection.GetRepeatedDouble(message, &field, i));
        break;
      case FieldDescriptor::CPPTYPE_UINT32:
        json.push_back(reflection.GetRepeatedUInt32(message, &field, i));
        break;
      default:  // the messages repeat nothing else
        break;
    }
  }
  return json;
}

bool Appears(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  if (field.is_repeated()) return reflection.FieldSize(message, &field) > 0;
  if (reflection.HasField(message, &field)) return true;
  return !field.has_presence() && field.cpp_type() != FieldDescriptor::CPPTYPE_STRING &&
         field.cpp_type() != FieldDescriptor::CPPTYPE_ENUM;
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

absl::Status MessageFromJson(const Json& json, std::string_view path, Message* message) {
  if (!json.is_object()) return WrongType(path, "an object", json);
  std::map<std::string, const FieldDescriptor*> fields;
  const google::protobuf::Descriptor& type = *message->GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    fields.emplace(JsonName(type.field(i)->name()), type.field(i));
  }
  for (const auto& [name, member] : json.items()) {
    const auto found = fields.find(name);
    if (found == fields.end()) return Wrong(path, Cat("unknown member \"", name, "\""));
    ARM_RETURN_IF_ERROR(ReadField(member, Member(path, name), *found->second, message));
  }
  return absl::OkStatus();
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
      return Tagged("SS", SetToJson(value.ss().values()));
    case AttributeValue::kNs:
      return Tagged("NS", SetToJson(value.ns().values()));
    case AttributeValue::kBs:
      return Tagged("BS", SetToJson(value.bs().values(), /*is_binary=*/true));
    case AttributeValue::kL: {
      Json list = Json::array();
      for (const AttributeValue& element : value.l().values()) list.push_back(AttributeValueToJson(element));
      return Tagged("L", std::move(list));
    }
    case AttributeValue::kM:
      return Tagged("M", ValuesToJson(value.m().entries()));
    case AttributeValue::VALUE_NOT_SET:
      break;
  }
  return Json::object();
}

Json ItemToJson(const api::v1::Item& item) { return ValuesToJson(item.attributes()); }

Json MessageToJson(const Message& message) {
  Json json = Json::object();
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (!Appears(message, field)) continue;
    // The documented name, but for numbers that the document has in another form.
    const daemon::JsonShape::Member& member = daemon::ShapeOf(type).members[static_cast<size_t>(i)];
    json[member.form == daemon::NumberForm::kPlain ? member.name : JsonName(field.name())] =
        field.is_map()        ? MapToJson(message, field)
        : field.is_repeated() ? ListToJson(message, field)
                              : SingularToJson(message, field);
  }
  return json;
}

}  // namespace armature::cli
