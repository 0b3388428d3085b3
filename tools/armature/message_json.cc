#include "tools/armature/message_json.h"

#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "armature/api/v1/types.pb.h"
#include "daemon/message_json/message_names.h"
#include "google/protobuf/descriptor.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/attribute_json.h"

namespace armature::cli {
namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

absl::Status Wrong(std::string_view path, std::string_view what) {
  return absl::InvalidArgumentError(path.empty() ? std::string(what) : Cat(path, ": ", what));
}

absl::Status WrongType(std::string_view path, std::string_view expected, const Json& json) {
  return Wrong(path, Cat("must be ", expected, ", not ", json.type_name()));
}

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
  if (too_large || json.get<int64_t>() < min || json.get<int64_t>() > max) {
    return Wrong(path, "is out of range");
  }
  return json.get<int64_t>();
}

absl::Status ReadMessage(const Json& json, const std::string& path, Message* message) {
  if (auto* value = dynamic_cast<api::v1::AttributeValue*>(message)) {
    ARM_ASSIGN_OR_RETURN(*value, AttributeValueFromJson(json, path));
    return absl::OkStatus();
  }
  if (auto* item = dynamic_cast<api::v1::Item*>(message)) {
    ARM_ASSIGN_OR_RETURN(*item, ItemFromJson(json, path));
    return absl::OkStatus();
  }
  return MessageFromJson(json, path, message);
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
      default:
        return WriteNumber(json, path);
    }
  }

 private:
  template <class Setter, class Adder, class Value>
  void Set(Setter set, Adder add, const Value& value) {
    field_->is_repeated() ? (reflection_->*add)(message_, field_, value) : (reflection_->*set)(message_, field_, value);
  }

  absl::Status WriteNumber(const Json& json, const std::string& path) {
    switch (field_->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32: {
        using Limits = std::numeric_limits<int32_t>;
        ARM_ASSIGN_OR_RETURN(const int64_t value, IntegerFromJson(json, path, Limits::min(), Limits::max()));
        Set(&Reflection::SetInt32, &Reflection::AddInt32, static_cast<int32_t>(value));
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_INT64: {
        using Limits = std::numeric_limits<int64_t>;
        ARM_ASSIGN_OR_RETURN(const int64_t value, IntegerFromJson(json, path, Limits::min(), Limits::max()));
        Set(&Reflection::SetInt64, &Reflection::AddInt64, value);
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_UINT64: {
        ARM_ASSIGN_OR_RETURN(const int64_t value, IntegerFromJson(json, path, 0, std::numeric_limits<int64_t>::max()));
        Set(&Reflection::SetUInt64, &Reflection::AddUInt64, static_cast<uint64_t>(value));
        return absl::OkStatus();
      }
      default:
        return Wrong(path, "cannot be set");
    }
  }

  Message* message_;
  const FieldDescriptor* field_;
  const Reflection* reflection_;
};

absl::Status ReadMap(const Json& json, const std::string& path, const FieldDescriptor& field, Message* message) {
  if (!json.is_object()) return WrongType(path, "an object", json);
  const FieldDescriptor* key = field.message_type()->map_key();
  const FieldDescriptor* value = field.message_type()->map_value();
  message->GetReflection()->ClearField(message, &field);
  for (const auto& [name, member] : json.items()) {
    Message* entry = message->GetReflection()->AddMessage(message, &field);
    entry->GetReflection()->SetString(entry, key, name);
    ARM_RETURN_IF_ERROR(FieldWriter(entry, value).Write(member, Cat(path, ".", name)));
  }
  return absl::OkStatus();
}

absl::Status ReadField(const Json& json, const std::string& path, const FieldDescriptor& field, Message* message) {
  if (field.is_map()) return ReadMap(json, path, field, message);
  if (!field.is_repeated()) return FieldWriter(message, &field).Write(json, path);
  if (!json.is_array()) return WrongType(path, "an array", json);
  message->GetReflection()->ClearField(message, &field);
  for (size_t i = 0; i < json.size(); ++i) {
    ARM_RETURN_IF_ERROR(FieldWriter(message, &field).Write(json[i], Cat(path, "[", i, "]")));
  }
  return absl::OkStatus();
}

Json SubmessageToJson(const Message& message) {
  if (const auto* value = dynamic_cast<const api::v1::AttributeValue*>(&message)) {
    return AttributeValueToJson(*value);
  }
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
      if (daemon::IsTime(field)) {
        return static_cast<double>(reflection.GetInt64(message, &field)) / 1000.0;
      }
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
      default:  // The API repeats nothing else.
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
    const std::string inner = path.empty() ? name : Cat(path, ".", name);
    ARM_RETURN_IF_ERROR(ReadField(member, inner, *found->second, message));
  }
  return absl::OkStatus();
}

Json MessageToJson(const Message& message) {
  Json json = Json::object();
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (!Appears(message, field)) continue;
    json[JsonName(field.name())] = field.is_map()        ? MapToJson(message, field)
                                   : field.is_repeated() ? ListToJson(message, field)
                                                         : SingularToJson(message, field);
  }
  return json;
}

}  // namespace armature::cli
