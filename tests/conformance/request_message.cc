#include "tests/conformance/request_message.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "armature/api/v1/types.pb.h"
#include "daemon/message_json/message_names.h"
#include "google/protobuf/descriptor.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/message_json.h"

namespace armature::conformance {
namespace {

using api::v1::AttributeValue;
using cli::Json;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Values = google::protobuf::Map<std::string, AttributeValue>;

absl::Status CannotSay(std::string_view path, std::string_view what) {
  return absl::InvalidArgumentError(Cat(path, ": ", what));
}

absl::Status ReadValue(const Json& json, const std::string& path, AttributeValue* value);

absl::Status ReadValues(const Json& json, const std::string& path, Values* values) {
  if (!json.is_object()) return CannotSay(path, "not an object");
  for (const auto& [name, member] : json.items()) {
    ARM_RETURN_IF_ERROR(ReadValue(member, Cat(path, ".", name), &(*values)[name]));
  }
  return absl::OkStatus();
}

// Reads an element of a set, or a scalar that is not a boolean.
absl::Status ReadText(const Json& json, const std::string& path, bool base64, std::string* text) {
  if (!json.is_string()) return CannotSay(path, "not a string");
  *text = json.get<std::string>();
  std::string bytes;
  if (!base64) return absl::OkStatus();
  if (!absl::Base64Unescape(*text, &bytes) || absl::Base64Escape(bytes) != *text) {
    return CannotSay(path, "not base64 with padding");
  }
  *text = bytes;
  return absl::OkStatus();
}

template <class Set>
absl::Status ReadSet(const Json& json, const std::string& path, bool base64, Set* set) {
  if (!json.is_array()) return CannotSay(path, "not an array");
  for (const Json& element : json) ARM_RETURN_IF_ERROR(ReadText(element, path, base64, set->add_values()));
  return absl::OkStatus();
}

absl::Status ReadList(const Json& json, const std::string& path, api::v1::ListValue* list) {
  if (!json.is_array()) return CannotSay(path, "not an array");
  for (const Json& element : json) ARM_RETURN_IF_ERROR(ReadValue(element, path, list->add_values()));
  return absl::OkStatus();
}

absl::Status ReadValue(const Json& json, const std::string& path, AttributeValue* value) {
  if (!json.is_object() || json.size() > 1) return CannotSay(path, "not an object with at most one type");
  if (json.empty()) return absl::OkStatus();  // a value without a type
  const std::string& tag = json.begin().key();
  const Json& inner = json.begin().value();
  if (tag == "S") return ReadText(inner, path, false, value->mutable_s());
  if (tag == "N") return ReadText(inner, path, false, value->mutable_n());
  if (tag == "B") return ReadText(inner, path, true, value->mutable_b());
  if (tag == "SS") return ReadSet(inner, path, false, value->mutable_ss());
  if (tag == "NS") return ReadSet(inner, path, false, value->mutable_ns());
  if (tag == "BS") return ReadSet(inner, path, true, value->mutable_bs());
  if (tag == "L") return ReadList(inner, path, value->mutable_l());
  if (tag == "M") return ReadValues(inner, path, value->mutable_m()->mutable_entries());
  if ((tag != "BOOL" && tag != "NULL") || !inner.is_boolean()) return CannotSay(path, "no such value");
  tag == "NULL" ? value->set_null(inner.get<bool>()) : value->set_bool_(inner.get<bool>());
  return absl::OkStatus();
}

absl::Status ReadObject(const Json& json, const std::string& path, Message* message);
absl::Status ReadField(const Json& json, const std::string& path, const FieldDescriptor& field, Message* message);

// Reads one value of `field`: sets it, or adds it if the field is repeated.
class FieldReader {
 public:
  FieldReader(Message* message, const FieldDescriptor& field)
      : message_(message), field_(field), reflection_(*message->GetReflection()) {}

  absl::Status Read(const Json& json, const std::string& path) {
    switch (field_.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        if (!json.is_string()) return CannotSay(path, "not a string");
        Store(&Reflection::SetString, &Reflection::AddString, json.get<std::string>());
        return absl::OkStatus();
      case FieldDescriptor::CPPTYPE_BOOL:
        if (!json.is_boolean()) return CannotSay(path, "not true or false");
        Store(&Reflection::SetBool, &Reflection::AddBool, json.get<bool>());
        return absl::OkStatus();
      case FieldDescriptor::CPPTYPE_ENUM: {
        const EnumValueDescriptor* const value =
            json.is_string() ? daemon::FindEnumValue(*field_.enum_type(), json.get<std::string>()) : nullptr;
        if (value == nullptr) return CannotSay(path, "not a value of its enumeration");
        Store(&Reflection::SetEnum, &Reflection::AddEnum, value);
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return ReadObject(json, path,
                          field_.is_repeated() ? reflection_.AddMessage(message_, &field_)
                                               : reflection_.MutableMessage(message_, &field_));
      default:
        return ReadInteger(json, path);
    }
  }

 private:
  template <class Setter, class Adder, class Value>
  void Store(Setter set, Adder add, const Value& value) {
    field_.is_repeated() ? (reflection_.*add)(message_, &field_, value) : (reflection_.*set)(message_, &field_, value);
  }

  absl::Status ReadInteger(const Json& json, const std::string& path) {
    if (!json.is_number_integer()) return CannotSay(path, "not an integer");
    const auto value = json.get<int64_t>();
    if (field_.cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
      if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
        return CannotSay(path, "beyond 32 bits");
      }
      Store(&Reflection::SetInt32, &Reflection::AddInt32, static_cast<int32_t>(value));
    } else if (field_.cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
      Store(&Reflection::SetInt64, &Reflection::AddInt64, value);
    } else {
      Store(&Reflection::SetUInt64, &Reflection::AddUInt64, static_cast<uint64_t>(value));
    }
    return absl::OkStatus();
  }

  Message* const message_;
  const FieldDescriptor& field_;
  const Reflection& reflection_;
};

absl::Status ReadMap(const Json& json, const std::string& path, const FieldDescriptor& field, Message* message) {
  if (!json.is_object()) return CannotSay(path, "not an object");
  for (const auto& [name, member] : json.items()) {
    Message* const entry = message->GetReflection()->AddMessage(message, &field);
    entry->GetReflection()->SetString(entry, field.message_type()->map_key(), name);
    ARM_RETURN_IF_ERROR(FieldReader(entry, *field.message_type()->map_value()).Read(member, Cat(path, ".", name)));
  }
  return absl::OkStatus();
}

absl::Status ReadField(const Json& json, const std::string& path, const FieldDescriptor& field, Message* message) {
  if (!field.is_repeated()) return FieldReader(message, field).Read(json, path);
  if (json.empty()) return CannotSay(path, "empty, which is the same as absent");
  if (field.is_map()) return ReadMap(json, path, field, message);
  if (!json.is_array()) return CannotSay(path, "not an array");
  for (size_t i = 0; i < json.size(); ++i) {
    ARM_RETURN_IF_ERROR(FieldReader(message, field).Read(json[i], Cat(path, "[", i, "]")));
  }
  return absl::OkStatus();
}

absl::Status ReadObject(const Json& json, const std::string& path, Message* message) {
  if (auto* const value = dynamic_cast<AttributeValue*>(message)) return ReadValue(json, path, value);
  if (auto* const item = dynamic_cast<api::v1::Item*>(message)) {
    return ReadValues(json, path, item->mutable_attributes());
  }
  const google::protobuf::Descriptor& type = *message->GetDescriptor();
  // A list in a map, for which protobuf needs a message of its own.
  if (json.is_array() && type.field_count() == 1 && type.field(0)->is_repeated()) {
    return ReadField(json, path, *type.field(0), message);
  }
  if (!json.is_object()) return CannotSay(path, "not an object");
  for (const auto& [name, member] : json.items()) {
    const std::string inner = path.empty() ? name : Cat(path, ".", name);
    const FieldDescriptor* field = nullptr;
    for (int i = 0; i < type.field_count() && field == nullptr; ++i) {
      if (cli::JsonName(type.field(i)->name()) == name) field = type.field(i);
    }
    if (field == nullptr) return CannotSay(inner, "no such member");
    ARM_RETURN_IF_ERROR(ReadField(member, inner, *field, message));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ToRequestMessage(const Json& json, Message* message) { return ReadObject(json, "", message); }

void AddEmptyLists(std::string_view operation, const Json& request, Json* answer) {
  if (operation == "ExecuteStatement") answer->emplace("Items", Json::array());
  if (operation == "ExecuteTransaction" || operation == "BatchExecuteStatement") {
    answer->emplace("Responses", Json::array());
  }
  if (operation == "BatchGetItem") answer->emplace("Responses", Json::object());
  if (operation == "BatchGetItem") answer->emplace("UnprocessedKeys", Json::object());
  if (operation == "BatchWriteItem") answer->emplace("UnprocessedItems", Json::object());
  const bool reads_items = operation == "Query" || operation == "Scan";
  const bool counts_only = request.value("Select", std::string()) == "COUNT";
  if (reads_items && !counts_only && !answer->contains("Items")) (*answer)["Items"] = Json::array();
  if (operation == "ListTables" && !answer->contains("TableNames")) (*answer)["TableNames"] = Json::array();
  if (operation == "ListBackups" && !answer->contains("BackupSummaries")) (*answer)["BackupSummaries"] = Json::array();
  if (operation == "ListStreams") answer->emplace("Streams", Json::array());
  if (operation == "GetRecords") answer->emplace("Records", Json::array());
  if (operation == "DescribeStream" && answer->contains("StreamDescription")) {
    (*answer)["StreamDescription"].emplace("Shards", Json::array());
  }
  if (operation != "ListTagsOfResource") return;
  if (!answer->contains("Tags")) (*answer)["Tags"] = Json::array();
  for (Json& tag : (*answer)["Tags"]) tag.emplace("Value", "");
}

}  // namespace armature::conformance
