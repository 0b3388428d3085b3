#include "daemon/grpc/item_service.h"

#include <memory>
#include <utility>

#include "daemon/grpc/byte_buffers.h"
#include "grpcpp/impl/codegen/server_callback_handlers.h"

namespace armature::daemon {

using Reactor = grpc::ServerUnaryReactor;
using Context = grpc::CallbackServerContext;

ItemService::ItemService(const CallGate* gate) : UnaryService(gate, {}) {
  using Handler = grpc::internal::CallbackUnaryHandler<grpc::ByteBuffer, grpc::ByteBuffer>;
  for (const ItemOperation& each : ItemOperations()) {
    AddMethod(*engine::FindOperation(each.name), grpc::internal::RpcMethod::NORMAL_RPC,
              new Handler([this, &each](Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
                return Serve(each, context, request, response);
              }));
  }
  using StreamHandler = grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>;
  AddMethod(*engine::FindOperation("Pipeline"), grpc::internal::RpcMethod::BIDI_STREAMING,
            new StreamHandler([this](Context* context) {
              return pipelines_.Open([this, context](StreamSet<PipelineStream>::Ended ended) {
                return std::make_shared<PipelineStream>(this->gate(), context, PipelineLimits{}, std::move(ended));
              });
            }));
}

Reactor* ItemService::Serve(const ItemOperation& operation, Context* context, const grpc::ByteBuffer* request,
                            grpc::ByteBuffer* response) const {
  return gate()->Admit(context, operation.name, [&operation, context, request, response](const UnaryCall& call) {
    ItemAnswer answer = [call, response](const absl::Status& status, const grpc::ByteBuffer& message) {
      *response = message;
      call.Finish(status);
    };
    operation.run(operation.name, {call.caller(), MakeRequestContext(context, call.trace()), std::move(answer)},
                  MessageBytes(*request).view());
  });
}

}  // namespace armature::daemon
