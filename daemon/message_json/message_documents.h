#ifndef ARMATURE_DAEMON_MESSAGE_JSON_MESSAGE_DOCUMENTS_H_
#define ARMATURE_DAEMON_MESSAGE_JSON_MESSAGE_DOCUMENTS_H_

// The transcoder: documents to API messages and API messages to documents, by the descriptors of the messages.
//
// Names, forms of numbers and unavailable members are those of message_names.h. Items and attribute values are
// converted between JSON and their wire form directly (item_reader.h, item_json.h).
//
// Thread-safety: free functions without state.

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "daemon/message_json/json_reader.h"
#include "daemon/message_json/json_writer.h"
#include "google/protobuf/message.h"

namespace armature::daemon {

// Reads a request of the JSON protocol. `request` must be empty. Unknown members are ignored. Values that the message
// cannot hold are kept beside its fields (given_fields.h).
//
// Cost: list elements beyond kListElementsMax in total are checked but not kept, so that a small document does not make
// a large message. No valid request has that many. Errors: SerializationException with the documented texts;
// UnknownOperationException for a documented member that is not available.
inline constexpr size_t kListElementsMax = 10'000;
absl::Status ReadRequest(const std::string& json, google::protobuf::Message* request);

// For strict_reader.h: sets what `value` has, over what the message held before. `value` has been checked, so it has
// nothing that the message cannot hold.
absl::Status ReadChecked(JsonValue value, google::protobuf::Message* message);

// Writes the message as one object. Numbers and booleans without presence always appear. Texts, enums and lists appear
// if they are not empty; lists of the answer itself always appear.
void WriteAnswer(const google::protobuf::Message& answer, JsonWriter* writer);

// Writes a message, an Item or an AttributeValue in the dialect of the command line, in which empty lists never appear.
// Entries of maps are sorted by name.
void WriteForTools(const google::protobuf::Message& message, JsonWriter* writer);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_MESSAGE_JSON_MESSAGE_DOCUMENTS_H_
