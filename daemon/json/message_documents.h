#ifndef ARMATURE_DAEMON_JSON_MESSAGE_DOCUMENTS_H_
#define ARMATURE_DAEMON_JSON_MESSAGE_DOCUMENTS_H_

// Documents of requests to API messages, and API messages to documents of answers, by reflection.

#include <string>

#include "absl/status/status.h"
#include "daemon/json/json_writer.h"
#include "google/protobuf/message.h"

namespace armature::daemon {

// Fills `request`, which must be empty. Unknown members are ignored. Values that the message cannot hold are kept
// beside its fields (given_fields.h). message_names.h has names, forms of numbers, and unavailable members.
//
// Cost: list elements beyond kListElementsMax in total are checked but not kept, so that a small document does not make
// a large message. No valid request has that many. Errors: SerializationException with the documented texts;
// UnknownOperationException for a documented member that is not available.
inline constexpr size_t kListElementsMax = 10'000;
absl::Status ReadRequest(const std::string& json, google::protobuf::Message* request);

// Writes the message as one object. Numbers and booleans without presence always appear. Texts, enums and lists appear
// if they are not empty; lists of the answer itself always appear. message_names.h has names and forms of numbers.
void WriteAnswer(const google::protobuf::Message& answer, JsonWriter* writer);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_MESSAGE_DOCUMENTS_H_
