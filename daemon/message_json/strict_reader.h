#ifndef ARMATURE_DAEMON_MESSAGE_JSON_STRICT_READER_H_
#define ARMATURE_DAEMON_MESSAGE_JSON_STRICT_READER_H_

// JSON that a person has written: requests of the command line and files of items.
//
// The readers of the JSON protocol forgive much, as its clients expect: they ignore unknown members, take words for
// booleans, and keep values that the engine refuses. Here, all of this is an error, which names its place, such as
// "KeySchema[1].KeyType" or "Tags.L[2].N". The rules of the data model (digits of a number, duplicates in a set, sizes)
// are left to the daemon.
//
// Thread-safety: free functions without state.

#include <string_view>

#include "absl/status/status.h"
#include "daemon/message_json/json_reader.h"
#include "google/protobuf/message.h"

namespace armature::daemon {

// Sets what `value` has in `message`, over what the message held before. The message may be an Item or an
// AttributeValue. `path`: where `value` stands, as a prefix for errors; may be empty.
//
// Errors: INVALID_ARGUMENT for the first fault in the order of the document. The message is unchanged then.
absl::Status ReadStrictly(JsonValue value, std::string_view path, google::protobuf::Message* message);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_MESSAGE_JSON_STRICT_READER_H_
