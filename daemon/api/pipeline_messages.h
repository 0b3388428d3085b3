#ifndef ARMATURE_DAEMON_API_PIPELINE_MESSAGES_H_
#define ARMATURE_DAEMON_API_PIPELINE_MESSAGES_H_

// The envelopes around the operations of a Pipeline stream.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace armature::daemon {

// What an armature.api.v1.PipelineRequest holds. The views point into the message, or into `joined`.
struct PipelineOperation {
  uint64_t id = 0;
  uint32_t number = 0;       // of the operation's field; 0: none is set
  std::string_view request;  // the operation's own message, not parsed
  std::string joined;        // holds `request` if it came in several pieces, which the protocol allows
};

// Numbers of the fields that hold operations and, in answers, their responses.
inline constexpr uint32_t kPipelineNumberFirst = 2;   // get_item
inline constexpr uint32_t kPipelineNumberLast = 11;   // transact_write_items
inline constexpr uint32_t kPipelineErrorNumber = 15;  // error, a RpcStatus

// Reads the envelope; fields that are not known are passed over. `*operation` has the id, if that could be read, even
// after an error. Errors: SerializationException.
absl::Status ParsePipelineRequest(std::string_view message, PipelineOperation* operation);

// The beginning of an armature.api.v1.PipelineResponse; the `result_bytes` bytes of field `number` follow.
std::string PipelineResponseHead(uint64_t id, uint32_t number, size_t result_bytes);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_PIPELINE_MESSAGES_H_
