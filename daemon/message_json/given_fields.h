#ifndef ARMATURE_DAEMON_MESSAGE_JSON_GIVEN_FIELDS_H_
#define ARMATURE_DAEMON_MESSAGE_JSON_GIVEN_FIELDS_H_

// Values of a JSON document that the fields of a message cannot hold.
//
// The data model distinguishes absent from empty texts and lists, and its errors repeat unknown words and numbers
// beyond 32 bits. A message cannot hold these. The JSON reader keeps them among the message's unknown fields, under the
// number of their field, and the translation to the engine reads them here. A message from gRPC has no unknown fields,
// because the service discards them: its fields without presence count as given, except lists and enums.
//
// All functions take the number of a field of `message`, such as v1::ListTablesRequest::kLimitFieldNumber.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "google/protobuf/message.h"

namespace armature::daemon {

using google::protobuf::Message;

// Keep a value that the field cannot hold.
void KeepAbsent(int number, Message* message);                       // a text without presence that is absent
void KeepEmptyList(int number, Message* message);                    // an empty list
void KeepText(int number, std::string_view text, Message* message);  // an unknown word for an enum
void KeepInteger(int number, int64_t value, Message* message);       // an integer beyond 32 bits
// Keeps the value of a oneof's field before another field of the oneof is set, because JSON can hold both.
void KeepMember(int number, Message* message);
// Keeps the wire form of an AttributeValue that its message cannot hold: one with several types, or too many levels.
void KeepValue(std::string_view wire, Message* message);
// Clears the field and the value kept for it.
void Forget(int number, Message* message);

// The value of a text, an integer or a boolean; nullopt if it is absent.
std::optional<std::string> GivenText(const Message& message, int number);
std::optional<int64_t> GivenInteger(const Message& message, int number);
std::optional<bool> GivenBool(const Message& message, int number);
// An enum as the word that the engine takes and errors repeat, such as "ALL_OLD". A number without a name is a decimal
// text, and an empty text is kEmptyWord.
std::optional<std::string> GivenEnum(const Message& message, int number);
// The wire form of an AttributeValue.
std::string GivenValue(const Message& value);
// True if the list is present, even if it is empty.
bool IsListGiven(const Message& message, int number);

// A member message of type `Member`, in the field or kept.
template <class Member>
std::optional<Member> GivenMember(const Message& message, int number);
std::optional<std::string> KeptText(const Message& message, int number);

// Sets an enum to the value with name `text`, or keeps an unknown text.
void SetEnum(int number, std::string_view text, Message* message);

template <class Member>
std::optional<Member> GivenMember(const Message& message, int number) {
  const google::protobuf::FieldDescriptor& field = *message.GetDescriptor()->FindFieldByNumber(number);
  if (message.GetReflection()->HasField(message, &field)) {
    return static_cast<const Member&>(message.GetReflection()->GetMessage(message, &field));
  }
  std::optional<Member> member;
  if (const std::optional<std::string> bytes = KeptText(message, number); bytes.has_value()) {
    member.emplace().ParseFromString(*bytes);
  }
  return member;
}

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_MESSAGE_JSON_GIVEN_FIELDS_H_
