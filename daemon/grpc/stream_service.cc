#include "daemon/grpc/stream_service.h"

#include <memory>
#include <utility>

#include "engine/operations.h"
#include "grpcpp/impl/codegen/server_callback_handlers.h"

namespace armature::daemon {

StreamService::StreamService(const CallGate* gate) : UnaryService(gate, StreamOperations()) {
  using StreamHandler = grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>;
  AddMethod(*engine::FindOperation("Watch"), grpc::internal::RpcMethod::BIDI_STREAMING,
            new StreamHandler([this](grpc::CallbackServerContext* context) {
              return watches_.Open([this, context](StreamSet<WatchStream>::Ended ended) {
                return std::make_shared<WatchStream>(this->gate(), context, std::move(ended));
              });
            }));
}

}  // namespace armature::daemon
