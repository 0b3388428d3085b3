#include "daemon/message_json/message_documents.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "armature/api/v1/types.pb.h"
#include "daemon/message_json/given_fields.h"
#include "daemon/message_json/item_json.h"
#include "daemon/message_json/item_reader.h"
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

bool IsItem(const google::protobuf::Descriptor& type) { return &type == api::v1::Item::descriptor(); }
bool IsValue(const google::protobuf::Descriptor& type) { return &type == api::v1::AttributeValue::descriptor(); }

class MessageReader {
 public:
  explicit MessageReader(Dialect dialect) : dialect_(dialect), keeps_(dialect == Dialect::kProtocol) {}

  absl::Status ReadRoot(JsonValue value, Message* message) {
    const JsonShape& shape = ShapeOf(*message->GetDescriptor(), dialect_);
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

  absl::Status ReadMembers(JsonValue value, Message* message) {
    if (IsItem(*message->GetDescriptor())) {
      std::string wire;
      ARM_RETURN_IF_ERROR(ReadItem(value, &wire));
      return message->ParseFromString(wire) ? absl::OkStatus() : absl::InvalidArgumentError("an item is no message");
    }
    if (IsValue(*message->GetDescriptor())) {
      std::string wire;
      ARM_RETURN_IF_ERROR(ReadAttributeValue(value, &wire));
      // A message holds neither a value that is nested deeper than messages may be, nor several types: a oneof holds
      // the last of them, and the others are missing in its wire form.
      if (!message->ParseFromString(wire)) message->Clear();
      if (keeps_ && message->ByteSizeLong() != wire.size()) KeepValue(wire, message);
      return absl::OkStatus();
    }
    const JsonShape& shape = ShapeOf(*message->GetDescriptor(), dialect_);
    for (const JsonShape::Member& member : shape.members) {
      if (keeps_ && IsPlainText(*member.field)) KeepAbsent(member.field->number(), message);
    }
    return ReadStructure(value, shape.name, [&](std::string_view name, JsonValue member) {
      if (IsRefused(shape, name)) return absl::OkStatus();
      const auto found = shape.by_name.find(name);
      return found == shape.by_name.end() ? absl::OkStatus()
                                          : ReadMember(member, shape.members[found->second], message);
    });
  }

 private:
  // True for a documented member that is not available, which is noted: the request is refused once it has been read.
  bool IsRefused(const JsonShape& shape, std::string_view name) {
    const auto found = std::find(shape.not_available.begin(), shape.not_available.end(), name);
    if (found == shape.not_available.end()) return false;
    refused_ = *found;
    return true;
  }

  absl::Status ReadMember(JsonValue value, const JsonShape::Member& member, Message* message) {
    const FieldDescriptor& field = *member.field;
    Forget(field.number(), message);
    if (field.is_map()) return ReadEntries(value, field, message);
    if (field.is_repeated()) return ReadElements(value, field, message);
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        return ReadValue<std::string>(value, ReadString, &Reflection::SetString, field, message);
      case FieldDescriptor::CPPTYPE_BOOL:
        return ReadValue<bool>(value, ReadBoolean, &Reflection::SetBool, field, message);
      case FieldDescriptor::CPPTYPE_INT32:
      case FieldDescriptor::CPPTYPE_INT64:
        return ReadNumber(value, member, message);
      case FieldDescriptor::CPPTYPE_UINT64:  // change sequences, for which the protocol has headers
        return keeps_ ? absl::OkStatus() : ReadNumber(value, member, message);
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
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
      message->GetReflection()->SetUInt64(message, &field, static_cast<uint64_t>(value));
      return absl::OkStatus();
    }
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
    if (const auto* const one_of = field.real_containing_oneof(); one_of != nullptr && keeps_) {
      const FieldDescriptor* const earlier = reflection.GetOneofFieldDescriptor(*message, one_of);
      if (earlier != nullptr) KeepMember(earlier->number(), message);
    }
    Message* const inner = reflection.MutableMessage(message, &field);
    const FieldDescriptor* const list = WrappedList(*inner->GetDescriptor());
    return list == nullptr ? ReadMembers(value, inner) : ReadElements(value, *list, inner);
  }

  // Reads a map with names as keys.
  absl::Status ReadEntries(JsonValue value, const FieldDescriptor& field, Message* message) {
    return ReadMap(value, field.message_type()->name(), [&](std::string_view name, JsonValue inner) {
      Message* const entry = message->GetReflection()->AddMessage(message, &field);
      entry->GetReflection()->SetString(entry, field.message_type()->map_key(), std::string(name));
      return ReadMember(inner, {.field = field.message_type()->map_value(), .name = {}}, entry);
    });
  }

  absl::Status ReadElements(JsonValue value, const FieldDescriptor& field, Message* message) {
    const Reflection& reflection = *message->GetReflection();
    ARM_RETURN_IF_ERROR(ReadList(value, [&](JsonValue element) {
      if (keeps_ && ++elements_ > kListElementsMax && reflection.FieldSize(*message, &field) > 0) {
        reflection.RemoveLast(message, &field);
      }
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        return ReadMembers(element, reflection.AddMessage(message, &field));
      }
      return ReadValue<std::string>(element, ReadString, &Reflection::AddString, field, message);
    }));
    if (keeps_ && reflection.FieldSize(*message, &field) == 0) KeepEmptyList(field.number(), message);
    return absl::OkStatus();
  }

  const Dialect dialect_;
  const bool keeps_;          // values that a message cannot hold (given_fields.h)
  size_t elements_ = 0;       // of all lists so far
  std::string_view refused_;  // a member that is not available
};

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

class MessageWriter {
 public:
  MessageWriter(Dialect dialect, JsonWriter* writer) : dialect_(dialect), writer_(*writer) {}

  // Writes an object, unless the message stands for a list, an item or a value. `is_answer`: true for an answer itself.
  void Write(const Message& message, bool is_answer = false) {
    const google::protobuf::Descriptor& type = *message.GetDescriptor();
    if (IsItem(type)) return WriteItem(BytesOf(message), &writer_);
    if (IsValue(type)) return WriteAttributeValue(BytesOf(message), &writer_);
    if (const FieldDescriptor* const list = WrappedList(type); list != nullptr) return WriteList(message, *list);
    writer_.BeginObject();
    for (const JsonShape::Member& member : ShapeOf(type, dialect_).members) {
      if (!Appears(message, member, is_answer)) continue;
      writer_.Key(member.name);
      const FieldDescriptor& field = *member.field;
      if (field.is_map()) {
        WriteMap(message, field);
      } else if (field.is_repeated()) {
        WriteList(message, field);
      } else {
        WriteValue(message, field, member.form, kSingular);
      }
    }
    writer_.EndObject();
  }

 private:
  // In place of the index of an element.
  static constexpr int kSingular = -1;

  bool Appears(const Message& message, const JsonShape::Member& member, bool is_answer) const {
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

  // Writes the value of a singular field, or an element of a list.
  void WriteValue(const Message& message, const FieldDescriptor& field, NumberForm form, int index) {
    const Reflection& reflection = *message.GetReflection();
    const auto get = [&](auto singular, auto element) {
      return index == kSingular ? (reflection.*singular)(message, &field)
                                : (reflection.*element)(message, &field, index);
    };
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        WriteText(get(&Reflection::GetString, &Reflection::GetRepeatedString), field);
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        writer_.Boolean(get(&Reflection::GetBool, &Reflection::GetRepeatedBool));
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        writer_.String(GivenEnum(message, field.number()).value_or(""));
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        Write(index == kSingular ? reflection.GetMessage(message, &field)
                                 : reflection.GetRepeatedMessage(message, &field, index));
        break;
      case FieldDescriptor::CPPTYPE_INT32:
        WriteNumber(get(&Reflection::GetInt32, &Reflection::GetRepeatedInt32), form);
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        WriteNumber(get(&Reflection::GetInt64, &Reflection::GetRepeatedInt64), form);
        break;
      case FieldDescriptor::CPPTYPE_UINT32:
        WriteNumber(get(&Reflection::GetUInt32, &Reflection::GetRepeatedUInt32), form);
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        writer_.Unsigned(get(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64));
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        writer_.Double(get(&Reflection::GetDouble, &Reflection::GetRepeatedDouble));
        break;
      case FieldDescriptor::CPPTYPE_FLOAT:  // the messages have none
        writer_.String("");
        break;
    }
  }

  void WriteText(const std::string& text, const FieldDescriptor& field) {
    field.type() == FieldDescriptor::TYPE_BYTES ? writer_.Base64(text) : writer_.String(text);
  }

  void WriteNumber(int64_t value, NumberForm form) {
    if (form == NumberForm::kTime) {
      writer_.Timestamp(value);
    } else {
      writer_.Integer(form == NumberForm::kWholeSeconds ? value / 1000 : value);
    }
  }

  void WriteList(const Message& message, const FieldDescriptor& field) {
    writer_.BeginArray();
    for (int i = 0; i < message.GetReflection()->FieldSize(message, &field); ++i) {
      WriteValue(message, field, NumberForm::kPlain, i);
    }
    writer_.EndArray();
  }

  void WriteMap(const Message& message, const FieldDescriptor& field) {
    std::map<std::string, const Message*> entries;
    for (int i = 0; i < message.GetReflection()->FieldSize(message, &field); ++i) {
      const Message& entry = message.GetReflection()->GetRepeatedMessage(message, &field, i);
      entries.emplace(entry.GetReflection()->GetString(entry, field.message_type()->map_key()), &entry);
    }
    writer_.BeginObject();
    for (const auto& [name, entry] : entries) {
      writer_.Key(name);
      WriteValue(*entry, *field.message_type()->map_value(), NumberForm::kPlain, kSingular);
    }
    writer_.EndObject();
  }

  const Dialect dialect_;
  JsonWriter& writer_;
};

}  // namespace

absl::Status ReadRequest(const std::string& json, Message* request) {
  ARM_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(json));
  return MessageReader(Dialect::kProtocol).ReadRoot(document.root(), request);
}

absl::Status ReadChecked(JsonValue value, Message* message) {
  return MessageReader(Dialect::kTools).ReadMembers(value, message);
}

void WriteAnswer(const Message& answer, JsonWriter* writer) {
  MessageWriter(Dialect::kProtocol, writer).Write(answer, /*is_answer=*/true);
}

void WriteForTools(const Message& message, JsonWriter* writer) {
  MessageWriter(Dialect::kTools, writer).Write(message);
}

}  // namespace armature::daemon
