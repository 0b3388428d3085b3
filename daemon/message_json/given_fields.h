#ifndef ARMATURE_DAEMON_MESSAGE_JSON_GIVEN_FIELDS_H_
#define ARMATURE_DAEMON_MESSAGE_JSON_GIVEN_FIELDS_H_

// Contents of a JSON document that have no place in the fields of a message.
//
// The rules of the data model tell an absent text from an empty one, an absent list from an empty one, and repeat
// unknown words and numbers beyond 32 bits in their errors. A message cannot hold these. The reader of JSON keeps them
// among the message's unknown fields, under the number of the field that they belong to, and the translation to the
// engine finds them here. A message that came over gRPC has no unknown fields, since the service discards them: its
// fields without presence count as given, except for lists and enums.
//
// All functions take the number of a field of `message`, as in v1::ListTablesRequest::kLimitFieldNumber.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "google/protobuf/message.h"

namespace armature::daemon {

using google::protobuf::Message;

// Keep what the field cannot hold.
void KeepAbsent(int number, Message* message);                       // a text without presence that was not given
void KeepEmptyList(int number, Message* message);                    // a list that was given without elements
void KeepText(int number, std::string_view text, Message* message);  // the word for an enum that has no such value
void KeepInteger(int number, int64_t value, Message* message);       // an integer beyond 32 bits
// The value of a field of a oneof that makes room for another one, which JSON can give too.
void KeepMember(int number, Message* message);
// Forgets the field and what was kept for it.
void Forget(int number, Message* message);

// A text, an integer, a boolean; absent if it was not given.
std::optional<std::string> GivenText(const Message& message, int number);
std::optional<int64_t> GivenInteger(const Message& message, int number);
std::optional<bool> GivenBool(const Message& message, int number);
// An enum as the word that the engine takes and errors repeat: "ALL_OLD". A number without a name is that number.
std::optional<std::string> GivenEnum(const Message& message, int number);
// True if a list was given, also an empty one.
bool IsListGiven(const Message& message, int number);

// A message of type `Member`, also one that was kept.
template <class Member>
std::optional<Member> GivenMember(const Message& message, int number);
std::optional<std::string> KeptText(const Message& message, int number);

// Sets an enum to the value called `text`, or keeps the text if there is none.
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
