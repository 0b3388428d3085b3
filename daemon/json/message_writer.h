#ifndef ARMATURE_DAEMON_JSON_MESSAGE_WRITER_H_
#define ARMATURE_DAEMON_JSON_MESSAGE_WRITER_H_

// Converts an API message to the document of an answer, by reflection.

#include "daemon/json/json_writer.h"
#include "google/protobuf/message.h"

namespace armature::daemon {

// Writes the message as one object. Numbers and booleans without presence always appear. Texts, enums and lists appear
// if they are not empty; lists of the answer itself always appear. message_names.h has names and forms of numbers.
void WriteAnswer(const google::protobuf::Message& answer, JsonWriter* writer);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_MESSAGE_WRITER_H_
