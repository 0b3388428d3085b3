#include "daemon/message_json/given_fields.h"

#include "daemon/message_json/message_names.h"
#include "google/protobuf/unknown_field_set.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// Values of kept varints.
constexpr uint64_t kAbsent = 0;
constexpr uint64_t kEmptyList = 1;
// Number of a kept wire form. AttributeValue has no such field.
constexpr int kWireForm = 1000;

const FieldDescriptor& FieldOf(const Message& message, int number) {
  return *message.GetDescriptor()->FindFieldByNumber(number);
}

// The value kept for the field, or null.
const UnknownField* Kept(const Message& message, int number, UnknownField::Type type) {
  const UnknownFieldSet& kept = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < kept.field_count(); ++i) {
    if (kept.field(i).number() == number && kept.field(i).type() == type) return &kept.field(i);
  }
  return nullptr;
}

bool IsKept(const Message& message, int number, uint64_t mark) {
  const UnknownField* const kept = Kept(message, number, UnknownField::TYPE_VARINT);
  return kept != nullptr && kept->varint() == mark;
}

UnknownFieldSet* KeptOf(Message* message) { return message->GetReflection()->MutableUnknownFields(message); }

}  // namespace

void KeepAbsent(int number, Message* message) { KeptOf(message)->AddVarint(number, kAbsent); }

void KeepEmptyList(int number, Message* message) { KeptOf(message)->AddVarint(number, kEmptyList); }

void KeepText(int number, std::string_view text, Message* message) {
  KeptOf(message)->AddLengthDelimited(number)->assign(text);
}

void KeepInteger(int number, int64_t value, Message* message) {
  KeptOf(message)->AddFixed64(number, static_cast<uint64_t>(value));
}

void KeepMember(int number, Message* message) {
  const FieldDescriptor& field = FieldOf(*message, number);
  const std::string bytes = message->GetReflection()->GetMessage(*message, &field).SerializeAsString();
  KeepText(number, bytes, message);
}

void KeepValue(std::string_view wire, Message* message) { KeepText(kWireForm, wire, message); }

void Forget(int number, Message* message) {
  message->GetReflection()->ClearField(message, &FieldOf(*message, number));
  if (!message->GetReflection()->GetUnknownFields(*message).empty()) KeptOf(message)->DeleteByNumber(number);
}

std::optional<std::string> KeptText(const Message& message, int number) {
  const UnknownField* const kept = Kept(message, number, UnknownField::TYPE_LENGTH_DELIMITED);
  return kept == nullptr ? std::nullopt : std::optional(kept->length_delimited());
}

std::optional<std::string> GivenText(const Message& message, int number) {
  const FieldDescriptor& field = FieldOf(message, number);
  const bool is_absent =
      field.has_presence() ? !message.GetReflection()->HasField(message, &field) : IsKept(message, number, kAbsent);
  return is_absent ? std::nullopt : std::optional(message.GetReflection()->GetString(message, &field));
}

std::optional<int64_t> GivenInteger(const Message& message, int number) {
  const FieldDescriptor& field = FieldOf(message, number);
  if (message.GetReflection()->HasField(message, &field)) {
    return field.cpp_type() == FieldDescriptor::CPPTYPE_INT32 ? message.GetReflection()->GetInt32(message, &field)
                                                              : message.GetReflection()->GetInt64(message, &field);
  }
  const UnknownField* const kept = Kept(message, number, UnknownField::TYPE_FIXED64);
  return kept == nullptr ? std::nullopt : std::optional(static_cast<int64_t>(kept->fixed64()));
}

std::optional<bool> GivenBool(const Message& message, int number) {
  const FieldDescriptor& field = FieldOf(message, number);
  if (!message.GetReflection()->HasField(message, &field)) return std::nullopt;
  return message.GetReflection()->GetBool(message, &field);
}

std::optional<std::string> GivenEnum(const Message& message, int number) {
  if (std::optional<std::string> kept = KeptText(message, number); kept.has_value()) {
    return kept->empty() ? std::string(kEmptyWord) : *std::move(kept);
  }
  const FieldDescriptor& field = FieldOf(message, number);
  const int value = message.GetReflection()->GetEnumValue(message, &field);
  return value == 0 ? std::nullopt : std::optional(EnumText(*field.enum_type(), value));
}

std::string GivenValue(const Message& value) {
  if (std::optional<std::string> kept = KeptText(value, kWireForm); kept.has_value()) return *std::move(kept);
  return value.SerializeAsString();
}

bool IsListGiven(const Message& message, int number) {
  return message.GetReflection()->FieldSize(message, &FieldOf(message, number)) > 0 ||
         IsKept(message, number, kEmptyList);
}

void SetEnum(int number, std::string_view text, Message* message) {
  const FieldDescriptor& field = FieldOf(*message, number);
  const EnumValueDescriptor* const value = FindEnumValue(*field.enum_type(), text);
  if (value == nullptr) return KeepText(number, text, message);
  message->GetReflection()->SetEnum(message, &field, value);
}

}  // namespace armature::daemon
