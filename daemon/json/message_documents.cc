#include "daemon/json/message_documents.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "armature/api/v1/types.pb.h"
#include "daemon/json/item_json.h"
#include "daemon/json/item_reader.h"
#include "daemon/json/json_reader.h"
#include "daemon/message_json/given_fields.h"
#include "daemon/message_json/message_names.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"

namespace armature::daemon {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

// True for a text whose message cannot tell absent from empty.
bool IsPlainText(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_STRING && !field.is_repeated() && !field.has_presence();
}

class MessageReader {
 public:
  absl::Status ReadRoot(JsonValue value, Message* message) {
    const JsonShape& shape = ShapeOf(*message->GetDescriptor());
    std::vector<bool> given(shape.members.size());
    ARM_RETURN_IF_ERROR(ReadStructure(value, shape.name, [&](std::string_view name, JsonValue member) {
      if (IsRefused(shape, name)) return absl::OkStatus();
      const auto found = shape.by_name.find(name);
      if (found == shape.by_name.end()) return absl::OkStatus();
      given[found->second] = true;
      return ReadMember(member, shape.members[found->second], message);
    }));
    if (!refused_.empty()) return UnknownOperationError(Cat(refused_, " is not available in this version"));
    for (size_t i = 0; i < given.size(); ++i) {
      const FieldDescriptor& field = *shape.members[i].field;
      if (!given[i] && IsPlainText(field)) KeepAbsent(field.number(), message);
    }
    return absl::OkStatus();
  }

 private:
  // True for a documented member that is not available, which is noted: the request is refused once it has been read.
  bool IsRefused(const JsonShape& shape, std::string_view name) {
    const auto found = std::find(shape.not_available.begin(), shape.not_available.end(), name);
    if (found == shape.not_available.end()) return false;
    refused_ = *found;
    return true;
  }

  absl::Status ReadMembers(JsonValue value, Message* message) {
    if (message->GetDescriptor() == api::v1::AttributeValue::descriptor()) {
      std::string wire;
      ARM_RETURN_IF_ERROR(ReadAttributeValue(value, &wire));
      // A message holds neither a value that is nested deeper than messages may be, nor several types: a oneof holds
      // the last of them, and the others are missing in its wire form.
      if (!message->ParseFromString(wire)) message->Clear();
      if (message->ByteSizeLong() != wire.size()) KeepValue(wire, message);
      return absl::OkStatus();
    }
    const JsonShape& shape = ShapeOf(*message->GetDescriptor());
    for (const JsonShape::Member& member : shape.members) {
      if (IsPlainText(*member.field)) KeepAbsent(member.field->number(), message);
    }
    return ReadStructure(value, shape.name, [&](std::string_view name, JsonValue member) {
      if (IsRefused(shape, name)) return absl::OkStatus();
      const auto found = shape.by_name.find(name);
      return found == shape.by_name.end() ? absl::OkStatus()
                                          : ReadMember(member, shape.members[found->second], message);
    });
  }

  absl::Status ReadMember(JsonValue value, const JsonShape::Member& member, Message* message) {
    const FieldDescriptor& field = *member.field;
    Forget(field.number(), message);
    if (field.is_repeated()) return ReadElements(value, field, message);
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        return ReadValue<std::string>(value, ReadString, &Reflection::SetString, field, message);
      case FieldDescriptor::CPPTYPE_BOOL:
        return ReadValue<bool>(value, ReadBoolean, &Reflection::SetBool, field, message);
      case FieldDescriptor::CPPTYPE_INT32:
      case FieldDescriptor::CPPTYPE_INT64:
        return ReadNumber(value, member, message);
      case FieldDescriptor::CPPTYPE_ENUM: {
        std::string text;
        ARM_RETURN_IF_ERROR(ReadString(value, &text));
        SetEnum(field.number(), text, message);
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return ReadInner(value, field, message);
      default:  // requests have no other types
        return absl::OkStatus();
    }
  }

  template <class Value, class Set>
  static absl::Status ReadValue(JsonValue json, absl::Status (*read)(JsonValue, Value*), Set set,
                                const FieldDescriptor& field, Message* message) {
    Value value{};
    ARM_RETURN_IF_ERROR(read(json, &value));
    (message->GetReflection()->*set)(message, &field, std::move(value));
    return absl::OkStatus();
  }

  // An Integer of the documents has 32 bits in the message, a Long 64.
  static absl::Status ReadNumber(JsonValue json, const JsonShape::Member& member, Message* message) {
    const FieldDescriptor& field = *member.field;
    int64_t value = 0;
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
      ARM_RETURN_IF_ERROR(member.form == NumberForm::kTime ? ReadTimestamp(json, &value) : ReadLong(json, &value));
      message->GetReflection()->SetInt64(message, &field, value);
      return absl::OkStatus();
    }
    ARM_RETURN_IF_ERROR(ReadInteger(json, &value));
    const auto narrow = static_cast<int32_t>(value);
    if (narrow == value) {
      message->GetReflection()->SetInt32(message, &field, narrow);
    } else {
      KeepInteger(field.number(), value, message);
    }
    return absl::OkStatus();
  }

  absl::Status ReadInner(JsonValue value, const FieldDescriptor& field, Message* message) {
    const Reflection& reflection = *message->GetReflection();
    if (const auto* const one_of = field.real_containing_oneof(); one_of != nullptr) {
      const FieldDescriptor* const earlier = reflection.GetOneofFieldDescriptor(*message, one_of);
      if (earlier != nullptr) KeepMember(earlier->number(), message);
    }
    Message* const inner = reflection.MutableMessage(message, &field);
    const FieldDescriptor* const list = WrappedList(*inner->GetDescriptor());
    return list == nullptr ? ReadMembers(value, inner) : ReadElements(value, *list, inner);
  }

  absl::Status ReadElements(JsonValue value, const FieldDescriptor& field, Message* message) {
    const Reflection& reflection = *message->GetReflection();
    ARM_RETURN_IF_ERROR(ReadList(value, [&](JsonValue element) {
      if (++elements_ > kListElementsMax && reflection.FieldSize(*message, &field) > 0) {
        reflection.RemoveLast(message, &field);
      }
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        return ReadMembers(element, reflection.AddMessage(message, &field));
      }
      return ReadValue<std::string>(element, ReadString, &Reflection::AddString, field, message);
    }));
    if (reflection.FieldSize(*message, &field) == 0) KeepEmptyList(field.number(), message);
    return absl::OkStatus();
  }

  size_t elements_ = 0;       // of all lists so far
  std::string_view refused_;  // a member that is not available
};

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

void WriteMessage(const Message& message, bool is_answer, JsonWriter* writer);

// The wire form with the attributes in the order of their names.
std::string BytesOf(const Message& item) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  item.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

bool Appears(const Message& message, const JsonShape::Member& member, bool is_answer) {
  const Reflection& reflection = *message.GetReflection();
  const FieldDescriptor& field = *member.field;
  if (field.is_repeated()) {
    const bool is_report = field.message_type() == api::v1::ConsumedCapacity::descriptor();
    return (is_answer && !is_report) || member.is_always_written || reflection.FieldSize(message, &field) > 0;
  }
  if (member.is_always_written || reflection.HasField(message, &field)) return true;
  return !field.has_presence() && field.cpp_type() != FieldDescriptor::CPPTYPE_STRING &&
         field.cpp_type() != FieldDescriptor::CPPTYPE_ENUM;
}

void WriteNumber(int64_t value, NumberForm form, JsonWriter* writer) {
  if (form == NumberForm::kTime) {
    writer->Timestamp(value);
  } else {
    writer->Integer(form == NumberForm::kWholeSeconds ? value / 1000 : value);
  }
}

void WriteSingular(const Message& message, const JsonShape::Member& member, JsonWriter* writer) {
  const Reflection& reflection = *message.GetReflection();
  const FieldDescriptor* const field = member.field;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      writer->String(reflection.GetString(message, field));
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      writer->Boolean(reflection.GetBool(message, field));
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      writer->String(GivenEnum(message, field->number()).value_or(""));
      break;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (field->message_type() == api::v1::Item::descriptor()) {
        WriteItem(BytesOf(reflection.GetMessage(message, field)), writer);
        break;
      }
      WriteMessage(reflection.GetMessage(message, field), false, writer);
      break;
    case FieldDescriptor::CPPTYPE_INT32:
      WriteNumber(reflection.GetInt32(message, field), member.form, writer);
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      WriteNumber(reflection.GetInt64(message, field), member.form, writer);
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      writer->Double(reflection.GetDouble(message, field));
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      WriteNumber(static_cast<int64_t>(reflection.GetUInt64(message, field)), member.form, writer);
      break;
    default:  // answers about tables have no other types
      writer->String("");
  }
}

void WriteList(const Message& message, const FieldDescriptor& field, JsonWriter* writer) {
  const Reflection& reflection = *message.GetReflection();
  writer->BeginArray();
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    if (field.message_type() == api::v1::Item::descriptor()) {
      WriteItem(BytesOf(reflection.GetRepeatedMessage(message, &field, i)), writer);
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      WriteMessage(reflection.GetRepeatedMessage(message, &field, i), false, writer);
    } else {
      writer->String(reflection.GetRepeatedString(message, &field, i));
    }
  }
  writer->EndArray();
}

// A map of messages, as an object.
void WriteMap(const Message& message, const FieldDescriptor& field, JsonWriter* writer) {
  const Reflection& reflection = *message.GetReflection();
  const FieldDescriptor* const value = field.message_type()->map_value();
  writer->BeginObject();
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    writer->Key(entry.GetReflection()->GetString(entry, field.message_type()->map_key()));
    WriteMessage(entry.GetReflection()->GetMessage(entry, value), false, writer);
  }
  writer->EndObject();
}

void WriteMessage(const Message& message, bool is_answer, JsonWriter* writer) {
  writer->BeginObject();
  for (const JsonShape::Member& member : ShapeOf(*message.GetDescriptor()).members) {
    if (!Appears(message, member, is_answer)) continue;
    writer->Key(member.name);
    if (member.field->is_map()) {
      WriteMap(message, *member.field, writer);
    } else if (member.field->is_repeated()) {
      WriteList(message, *member.field, writer);
    } else {
      WriteSingular(message, member, writer);
    }
  }
  writer->EndObject();
}

}  // namespace

absl::Status ReadRequest(const std::string& json, Message* request) {
  ARM_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(json));
  return MessageReader().ReadRoot(document.root(), request);
}

void WriteAnswer(const Message& answer, JsonWriter* writer) { WriteMessage(answer, true, writer); }

}  // namespace armature::daemon
