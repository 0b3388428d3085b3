#ifndef ARMATURE_DAEMON_GRPC_ITEM_OPERATIONS_H_
#define ARMATURE_DAEMON_GRPC_ITEM_OPERATIONS_H_

// The item operations, independent of their transport: a call of their own, or a message in a stream.

#include <array>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "daemon/grpc/call_gate.h"
#include "engine/items/request.h"
#include "grpcpp/support/byte_buffer.h"

namespace armature::daemon {

// Receives the encoded response message, or an error. Called once, on any thread.
using ItemAnswer = absl::AnyInvocable<void(const absl::Status& status, grpc::ByteBuffer response) &&>;

// One running operation. The object that `context` points to must live until `answer` is called.
struct ItemCall {
  Caller caller;
  engine::RequestContext context;
  ItemAnswer answer;
};

// Each operation parses its request, authorises the caller, and starts. Does not block. `request` is used during the
// call only. Errors, through `answer`: SerializationException, AccessDeniedException, and those of the engine.
using ItemOperation = void (*)(ItemCall call, std::string_view request);
void GetItem(ItemCall call, std::string_view request);
void PutItem(ItemCall call, std::string_view request);
void UpdateItem(ItemCall call, std::string_view request);
void DeleteItem(ItemCall call, std::string_view request);
void Query(ItemCall call, std::string_view request);
void Scan(ItemCall call, std::string_view request);
void BatchGetItem(ItemCall call, std::string_view request);
void BatchWriteItem(ItemCall call, std::string_view request);
void TransactGetItems(ItemCall call, std::string_view request);
void TransactWriteItems(ItemCall call, std::string_view request);

struct ItemOperationRow {
  std::string_view name;
  ItemOperation run;
};

// In the order of their fields in PipelineRequest.
inline constexpr auto kItemOperations = std::to_array<ItemOperationRow>({
    {"GetItem", GetItem},
    {"PutItem", PutItem},
    {"UpdateItem", UpdateItem},
    {"DeleteItem", DeleteItem},
    {"Query", Query},
    {"Scan", Scan},
    {"BatchGetItem", BatchGetItem},
    {"BatchWriteItem", BatchWriteItem},
    {"TransactGetItems", TransactGetItems},
    {"TransactWriteItems", TransactWriteItems},
});

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_ITEM_OPERATIONS_H_
