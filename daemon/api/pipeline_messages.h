#ifndef ARMATURE_DAEMON_API_PIPELINE_MESSAGES_H_
#define ARMATURE_DAEMON_API_PIPELINE_MESSAGES_H_

// The envelopes of the operations in a Pipeline stream.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace armature::daemon {

// The content of an armature.api.v1.PipelineRequest. The views point into the message, or into `joined`.
struct PipelineOperation {
  uint64_t id = 0;
  uint32_t number = 0;       // field number of the operation; 0: none
  std::string_view request;  // the operation's encoded message
  std::string joined;        // holds `request` if protobuf delivered it in several pieces
};

// Field numbers of operations, and of their responses in answers.
inline constexpr uint32_t kPipelineNumberFirst = 2;   // get_item
inline constexpr uint32_t kPipelineNumberLast = 11;   // transact_write_items
inline constexpr uint32_t kPipelineErrorNumber = 15;  // error, a RpcStatus

// Reads the envelope; unknown fields are ignored. `*operation` has the id, if it could be read, even after an error.
// Errors: SerializationException.
absl::Status ParsePipelineRequest(std::string_view message, PipelineOperation* operation);

// The beginning of an armature.api.v1.PipelineResponse. The `result_bytes` bytes of field `number` follow.
std::string PipelineResponseHead(uint64_t id, uint32_t number, size_t result_bytes);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_PIPELINE_MESSAGES_H_
