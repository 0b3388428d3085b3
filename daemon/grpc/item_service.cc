#include "daemon/grpc/item_service.h"

#include <memory>
#include <utility>

#include "daemon/grpc/byte_buffers.h"
#include "engine/operations.h"
#include "grpcpp/impl/codegen/server_callback_handlers.h"

namespace armature::daemon {

using Context = grpc::CallbackServerContext;

ItemService::ItemService(const CallGate* gate) : UnaryService(gate, {}) {
  for (const ItemOperation& each : ItemOperations()) {
    AddGuarded(*engine::FindOperation(each.name), [this, &each](OpenedCall* opened) { Serve(each, opened); });
  }
  using StreamHandler = grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>;
  AddMethod(*engine::FindOperation("Pipeline"), grpc::internal::RpcMethod::BIDI_STREAMING,
            new StreamHandler([this](Context* context) {
              return pipelines_.Open([this, context](StreamSet<PipelineStream>::Ended ended) {
                return std::make_shared<PipelineStream>(this->gate(), context, PipelineLimits{}, std::move(ended));
              });
            }));
}

void ItemService::Serve(const ItemOperation& operation, OpenedCall* opened) const {
  gate()->Admit(
      opened, *engine::FindOperation(operation.name),
      [&operation](const UnaryCall& call, const grpc::ByteBuffer& request) {
        ItemAnswer answer = [call](const absl::Status& status, const grpc::ByteBuffer& message, HeldMemory memory) {
          *call.response() = message;
          call.HoldMemory(std::move(memory));
          call.Finish(status);
        };
        operation.run(
            operation.name,
            {call.caller(), MakeRequestContext(call.context(), call.trace(), call.memory()), std::move(answer)},
            MessageBytes(request).view());
      });
}

}  // namespace armature::daemon
