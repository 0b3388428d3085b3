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
#include "daemon/http/h2_stream.h"
#include "daemon/rpc/rpc_call.h"
#include "engine/items/request.h"
#include "storage/base/deadline.h"

namespace armature::daemon {

// When the client stops waiting.
Deadline DeadlineOf(const RpcCall& call);
// Deadline, cancellation and memory of a call for the engine. `call` must live until the request is done. `trace` may
// be null.
engine::RequestContext MakeRequestContext(const RpcCall* call, std::shared_ptr<engine::RequestTrace> trace);

// Receives the encoded response message, with memory that was taken for it, or an error. Called once, on any thread.
using ItemAnswer = absl::AnyInvocable<void(const absl::Status& status, OutMessage response) &&>;

// One running operation. The call of `context` must live until `answer` is called.
struct ItemCall {
  Caller caller;
  engine::RequestContext context;
  ItemAnswer answer;
};

struct ItemOperation {
  std::string_view name;
  uint32_t weight;  // of its work and its answer, in operations on a single item
  // Parses the request, authorises the caller for the operation `name`, and starts. Does not block. `request` is used
  // during the call only. Errors, through `answer`: SerializationException, AccessDeniedException, and those of the
  // engine.
  void (*run)(std::string_view name, ItemCall call, std::string_view request);
};

// In the order of their fields in PipelineRequest.
std::span<const ItemOperation> ItemOperations();

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_ITEM_OPERATIONS_H_
