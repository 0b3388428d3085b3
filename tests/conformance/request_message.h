#ifndef ARMATURE_TESTS_CONFORMANCE_REQUEST_MESSAGE_H_
#define ARMATURE_TESTS_CONFORMANCE_REQUEST_MESSAGE_H_

// Documented JSON to protobuf, for requests that may be wrong on purpose.
//
// Unlike the reader of the command line, this one accepts everything that a message can hold, such as values without a
// type or too deep nesting. The cases test how the daemon refuses these.

#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "tools/armature/json_text.h"

namespace armature::conformance {

// Errors: InvalidArgument, with the path, for JSON that the message cannot hold: unknown members and enum values, wrong
// JSON types, null, and empty lists and maps, which protobuf cannot tell from absent ones.
absl::Status ToRequestMessage(const cli::Json& json, google::protobuf::Message* message);

// Gives an answer its documented form: adds empty lists and texts that the documented answer to `request` has and
// protobuf omits, and unwraps lists that protobuf puts into a message.
void AddEmptyLists(std::string_view operation, const cli::Json& request, cli::Json* answer);

}  // namespace armature::conformance

#endif  // ARMATURE_TESTS_CONFORMANCE_REQUEST_MESSAGE_H_
