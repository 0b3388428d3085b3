#ifndef ARMATURE_DAEMON_JSON_MESSAGE_READER_H_
#define ARMATURE_DAEMON_JSON_MESSAGE_READER_H_

// Converts the document of a request to its API message, by reflection.

#include <string>

#include "absl/status/status.h"
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

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_MESSAGE_READER_H_
