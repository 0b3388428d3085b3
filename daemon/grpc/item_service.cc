#include "daemon/grpc/item_service.h"

#include <memory>
#include <utility>

#include "daemon/grpc/byte_buffers.h"
#include "daemon/grpc/error_map.h"
#include "daemon/grpc/request_contexts.h"

namespace armature::daemon {

using Reactor = grpc::ServerUnaryReactor;
using Context = grpc::CallbackServerContext;

Reactor* ItemService::Serve(std::string_view name, ItemOperation operation, Context* context,
                            const grpc::ByteBuffer* request, grpc::ByteBuffer* response) const {
  return gate_->Admit(context, name, [operation, context, request, response](const UnaryCall& call) {
    ItemAnswer answer = [call, response](const absl::Status& status, const grpc::ByteBuffer& message) {
      *response = message;
      call.Finish(status);
    };
    operation({call.caller(), MakeRequestContext(context, call.trace()), std::move(answer)},
              MessageBytes(*request).view());
  });
}

Reactor* ItemService::GetItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve("GetItem", daemon::GetItem, context, request, response);
}

Reactor* ItemService::PutItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve("PutItem", daemon::PutItem, context, request, response);
}

Reactor* ItemService::UpdateItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve("UpdateItem", daemon::UpdateItem, context, request, response);
}

Reactor* ItemService::DeleteItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve("DeleteItem", daemon::DeleteItem, context, request, response);
}

Reactor* ItemService::Query(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve("Query", daemon::Query, context, request, response);
}

Reactor* ItemService::Scan(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve("Scan", daemon::Scan, context, request, response);
}

Reactor* ItemService::BatchGetItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve("BatchGetItem", daemon::BatchGetItem, context, request, response);
}

Reactor* ItemService::BatchWriteItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve("BatchWriteItem", daemon::BatchWriteItem, context, request, response);
}

Reactor* ItemService::TransactGetItems(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve("TransactGetItems", daemon::TransactGetItems, context, request, response);
}

Reactor* ItemService::TransactWriteItems(Context* context, const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) {
  return Serve("TransactWriteItems", daemon::TransactWriteItems, context, request, response);
}

PipelineStream* ItemService::Pipeline(Context* context) {
  return pipelines_.Open([this, context](StreamSet<PipelineStream>::Ended ended) {
    return std::make_shared<PipelineStream>(gate_, context, PipelineLimits{}, std::move(ended));
  });
}

}  // namespace armature::daemon
