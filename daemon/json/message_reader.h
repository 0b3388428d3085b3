#ifndef ARMATURE_DAEMON_JSON_MESSAGE_READER_H_
#define ARMATURE_DAEMON_JSON_MESSAGE_READER_H_

// The document of a request as its API message, by reflection.

#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace armature::daemon {

// Fills `request`, which is empty. Unknown members are ignored; what the message cannot hold is kept beside its fields
// (given_fields.h). Names, forms of numbers and members that are not available: message_names.h.
//
// Cost: elements of lists beyond kListElementsMax in all are checked and not kept, so that a small document does not
// make a large message. No request has that many. Errors: SerializationException with the documented texts;
// UnknownOperationException for a member that is documented and not available.
inline constexpr size_t kListElementsMax = 10'000;
absl::Status ReadRequest(const std::string& json, google::protobuf::Message* request);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_MESSAGE_READER_H_
