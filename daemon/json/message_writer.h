#ifndef ARMATURE_DAEMON_JSON_MESSAGE_WRITER_H_
#define ARMATURE_DAEMON_JSON_MESSAGE_WRITER_H_

// The document of an answer from its API message, by reflection.

#include "daemon/json/json_writer.h"
#include "google/protobuf/message.h"

namespace armature::daemon {

// Writes the message as one object. Numbers and booleans without presence always appear, texts, enums and lists only if
// they hold something; lists of the answer itself always appear. Names and forms of numbers: message_names.h.
void WriteAnswer(const google::protobuf::Message& answer, JsonWriter* writer);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_MESSAGE_WRITER_H_
