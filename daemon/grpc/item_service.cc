#include "daemon/grpc/item_service.h"

#include <memory>
#include <string>
#include <utility>

#include "engine/operations.h"

namespace armature::daemon {
namespace {

void RunItemOperation(const ItemOperation& operation, const UnaryCall& call, std::string_view request) {
  ItemAnswer answer = [call](const absl::Status& status, OutMessage message) {
    if (status.ok()) {
      call.Finish(std::move(message));
    } else {
      call.Finish(status);
    }
  };
  operation.run(operation.name, {call.caller(), MakeRequestContext(call.rpc(), call.trace()), std::move(answer)},
                request);
}

}  // namespace

ItemService::ItemService(const CallGate* gate, RpcFront* front) : UnaryService(gate, front, {}) {
  for (const ItemOperation& each : ItemOperations()) {
    AddUnary(*engine::FindOperation(each.name),
             [&each](const UnaryCall& call, const std::string& request) { RunItemOperation(each, call, request); });
  }
  AddStreams("Pipeline", &pipelines_);
}

}  // namespace armature::daemon
