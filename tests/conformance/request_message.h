#ifndef ARMATURE_TESTS_CONFORMANCE_REQUEST_MESSAGE_H_
#define ARMATURE_TESTS_CONFORMANCE_REQUEST_MESSAGE_H_

// Documented JSON to protobuf, for requests that may be wrong on purpose.
//
// The reader of the command line helps its user: it refuses what the daemon would refuse. This one lets everything
// through that a message can hold, such as values without a type or nested too deeply, because the daemon's answer to
// those is what the cases are about.

#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "tools/armature/json_text.h"

namespace armature::conformance {

// Errors: InvalidArgument, with the path, for what the message cannot hold: unknown members and enum values, other JSON
// types, null, and empty lists and maps, which protobuf cannot tell from absent ones.
absl::Status ToRequestMessage(const cli::Json& json, google::protobuf::Message* message);

// Gives an answer its documented form: the empty lists and texts that the answer to `request` shows and protobuf leaves
// out, and lists where protobuf has a message around them.
void AddEmptyLists(std::string_view operation, const cli::Json& request, cli::Json* answer);

}  // namespace armature::conformance

#endif  // ARMATURE_TESTS_CONFORMANCE_REQUEST_MESSAGE_H_
