#include "daemon/json/message_writer.h"

#include <optional>
#include <string>

#include "daemon/message_json/given_fields.h"
#include "daemon/message_json/message_names.h"

namespace armature::daemon {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

void WriteMessage(const Message& message, bool is_answer, JsonWriter* writer);

bool Appears(const Message& message, const JsonShape::Member& member, bool is_answer) {
  const Reflection& reflection = *message.GetReflection();
  const FieldDescriptor& field = *member.field;
  if (field.is_repeated()) return is_answer || reflection.FieldSize(message, &field) > 0;
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
      WriteMessage(reflection.GetMessage(message, field), false, writer);
      break;
    case FieldDescriptor::CPPTYPE_INT32:
      WriteNumber(reflection.GetInt32(message, field), member.form, writer);
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      WriteNumber(reflection.GetInt64(message, field), member.form, writer);
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
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      WriteMessage(reflection.GetRepeatedMessage(message, &field, i), false, writer);
    } else {
      writer->String(reflection.GetRepeatedString(message, &field, i));
    }
  }
  writer->EndArray();
}

void WriteMessage(const Message& message, bool is_answer, JsonWriter* writer) {
  writer->BeginObject();
  for (const JsonShape::Member& member : ShapeOf(*message.GetDescriptor()).members) {
    if (!Appears(message, member, is_answer)) continue;
    writer->Key(member.name);
    if (member.field->is_repeated()) {
      WriteList(message, *member.field, writer);
    } else {
      WriteSingular(message, member, writer);
    }
  }
  writer->EndObject();
}

}  // namespace

void WriteAnswer(const Message& answer, JsonWriter* writer) { WriteMessage(answer, true, writer); }

}  // namespace armature::daemon
