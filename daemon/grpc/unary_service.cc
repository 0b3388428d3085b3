#include "daemon/grpc/unary_service.h"

#include <memory>
#include <string_view>
#include <utility>

#include "daemon/grpc/item_operations.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/impl/codegen/server_callback_handlers.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

using google::protobuf::Message;
using Reactor = grpc::ServerUnaryReactor;
using Context = grpc::CallbackServerContext;

std::string_view ServiceOf(engine::Plane plane) {
  switch (plane) {
    case engine::Plane::kItem:
    case engine::Plane::kGroup:
      return "armature.api.v1.ItemService";
    case engine::Plane::kTable:
      return "armature.api.v1.TableService";
    case engine::Plane::kStream:
      return "armature.api.v1.StreamService";
    case engine::Plane::kAdmin:
      return "armature.admin.v1.AdminService";
  }
  return {};
}

}  // namespace

std::string MethodPath(const engine::Operation& operation) {
  return Cat("/", ServiceOf(operation.plane), "/", operation.name.substr(operation.name.rfind(':') + 1));
}

UnaryService::UnaryService(const CallGate* gate, std::span<const UnaryOperation> operations)
    : gate_(gate), operations_(operations.begin(), operations.end()) {
  using Handler = grpc::internal::CallbackUnaryHandler<grpc::ByteBuffer, grpc::ByteBuffer>;
  for (const UnaryOperation& each : operations_) {
    AddMethod(each.facts(), grpc::internal::RpcMethod::NORMAL_RPC,
              new Handler([this, operation = &each](Context* context, const grpc::ByteBuffer* request,
                                                    grpc::ByteBuffer* response) {
                return Serve(*operation, context, request, response);
              }));
  }
}

void UnaryService::AddMethod(const engine::Operation& operation, grpc::internal::RpcMethod::RpcType type,
                             grpc::internal::MethodHandler* handler) {
  const auto number = static_cast<int>(paths_.size());
  paths_.push_back(MethodPath(operation));
  grpc::Service::AddMethod(new grpc::internal::RpcServiceMethod(paths_.back().c_str(), type, nullptr));
  MarkMethodRawCallback(number, handler);
}

Reactor* UnaryService::Serve(const UnaryOperation& operation, Context* context, const grpc::ByteBuffer* request,
                             grpc::ByteBuffer* response) const {
  const std::shared_ptr<UnaryOperation::Messages> messages = operation.NewMessages();
  grpc::ByteBuffer bytes = *request;
  // Without a reactor, gRPC ends the call like a generated service that cannot parse its request.
  if (!grpc::GenericDeserialize<grpc::ProtoBufferReader, Message>(&bytes, messages->request.get()).ok()) return nullptr;
  messages->request->DiscardUnknownFields();
  operation.FindSubject(messages.get());
  const absl::Time deadline = MakeRequestContext(context, nullptr).deadline;
  const grpc::string_ref authority = context->ExperimentalGetAuthority();
  const auto run = [&operation, messages, response, deadline,
                    authority = std::string(authority.data(), authority.size())](const AuditedCall& call) {
    if (!operation.facts().source.empty()) {
      if (const absl::Status status = call.AllowAlso(messages->source); !status.ok()) return call.Finish(status);
    }
    const absl::StatusOr<engine::Engine*> engine = call.Allow();
    if (!engine.ok()) return call.Finish(engine.status());
    operation.Start({*engine, authority, deadline}, *messages, [call, messages, response](const absl::Status& status) {
      bool owned = false;
      messages->response->DiscardUnknownFields();
      if (status.ok()) {
        grpc::GenericSerialize<grpc::ProtoBufferWriter, Message>(*messages->response, response, &owned);
      }
      call.Finish(status);
    });
  };
  return gate_->AdmitAudited(context, operation.facts(), messages->subject, run);
}

}  // namespace armature::daemon
