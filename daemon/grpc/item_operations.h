#ifndef ARMATURE_DAEMON_GRPC_ITEM_OPERATIONS_H_
#define ARMATURE_DAEMON_GRPC_ITEM_OPERATIONS_H_

// The item operations, independent of their transport: a call of their own, or a message in a stream.

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "daemon/grpc/call_gate.h"
#include "engine/items/request.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"

namespace armature::daemon {

// Deadline and cancellation of a call for the engine. `context` must live until the request is done. `trace` may be
// null. `memory`: of the answer.
engine::RequestContext MakeRequestContext(grpc::CallbackServerContext* context,
                                          std::shared_ptr<engine::RequestTrace> trace, const MemorySource& memory);

// Receives the encoded response message and memory that was taken for it, or an error. Called once, on any thread.
using ItemAnswer =
    absl::AnyInvocable<void(const absl::Status& status, grpc::ByteBuffer response, HeldMemory memory) &&>;

// One running operation. The object that `context` points to must live until `answer` is called.
struct ItemCall {
  Caller caller;
  engine::RequestContext context;
  ItemAnswer answer;
};

struct ItemOperation {
  std::string_view name;
  size_t weight;  // of its work and its answer, in operations on a single item
  // Parses the request, authorises the caller for the operation `name`, and starts. Does not block. `request` is used
  // during the call only. Errors, through `answer`: SerializationException, AccessDeniedException, and those of the
  // engine.
  void (*run)(std::string_view name, ItemCall call, std::string_view request);
};

// In the order of their fields in PipelineRequest.
std::span<const ItemOperation> ItemOperations();

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_ITEM_OPERATIONS_H_
