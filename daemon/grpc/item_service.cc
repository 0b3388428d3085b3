#include "daemon/grpc/item_service.h"

#include <utility>

#include "daemon/api/error_map.h"
#include "daemon/grpc/byte_buffers.h"
#include "daemon/grpc/request_contexts.h"

namespace armature::daemon {

using Reactor = grpc::ServerUnaryReactor;
using Context = grpc::CallbackServerContext;

Reactor* ItemService::Serve(ItemOperation operation, Context* context, const grpc::ByteBuffer* request,
                            grpc::ByteBuffer* response) const {
  return gate_->Admit(context, [operation, context, request, response](const UnaryCall& call) {
    ItemAnswer answer = [call, response](const absl::Status& status, const grpc::ByteBuffer& message) {
      *response = message;
      call.Finish(status);
    };
    operation({call.caller(), MakeRequestContext(context), std::move(answer)}, MessageBytes(*request).view());
  });
}

Reactor* ItemService::GetItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve(daemon::GetItem, context, request, response);
}

Reactor* ItemService::PutItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve(daemon::PutItem, context, request, response);
}

Reactor* ItemService::UpdateItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve(daemon::UpdateItem, context, request, response);
}

Reactor* ItemService::DeleteItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve(daemon::DeleteItem, context, request, response);
}

Reactor* ItemService::Query(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve(daemon::Query, context, request, response);
}

Reactor* ItemService::Scan(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve(daemon::Scan, context, request, response);
}

Reactor* ItemService::BatchGetItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve(daemon::BatchGetItem, context, request, response);
}

Reactor* ItemService::BatchWriteItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve(daemon::BatchWriteItem, context, request, response);
}

Reactor* ItemService::TransactGetItems(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return Serve(daemon::TransactGetItems, context, request, response);
}

Reactor* ItemService::TransactWriteItems(Context* context, const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) {
  return Serve(daemon::TransactWriteItems, context, request, response);
}

}  // namespace armature::daemon
