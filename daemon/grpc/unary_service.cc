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

std::string_view ServiceOf(engine::Plane plane) {
  switch (plane) {
    case engine::Plane::kItem:
    case engine::Plane::kGroup:
      return "armature.api.v1.ItemService";
    case engine::Plane::kTable:
      return "armature.api.v1.TableService";
    case engine::Plane::kStream:
      return "armature.api.v1.StreamService";
    case engine::Plane::kStatement:
      return "armature.api.v1.StatementService";
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
  for (const UnaryOperation& each : operations_) {
    AddGuarded(each.facts(), [this, operation = &each](OpenedCall* opened) { Serve(*operation, opened); });
  }
}

void UnaryService::AddGuarded(const engine::Operation& operation, GuardedHandler::Open open) {
  AddMethod(operation, grpc::internal::RpcMethod::CLIENT_STREAMING, new GuardedHandler(std::move(open)));
}

void UnaryService::AddMethod(const engine::Operation& operation, grpc::internal::RpcMethod::RpcType type,
                             grpc::internal::MethodHandler* handler) {
  const auto number = static_cast<int>(paths_.size());
  paths_.push_back(MethodPath(operation));
  grpc::Service::AddMethod(new grpc::internal::RpcServiceMethod(paths_.back().c_str(), type, nullptr));
  MarkMethodRawCallback(number, handler);
}

void UnaryService::Serve(const UnaryOperation& operation, OpenedCall* opened) const {
  const auto run = [this, &operation](const UnaryCall& unary, const grpc::ByteBuffer& request) {
    grpc::CallbackServerContext* const context = unary.context();
    const std::shared_ptr<UnaryOperation::Messages> messages = operation.NewMessages();
    grpc::ByteBuffer bytes = request;
    if (!grpc::GenericDeserialize<grpc::ProtoBufferReader, Message>(&bytes, messages->request.get()).ok()) {
      return unary.FinishUnread();
    }
    messages->request->DiscardUnknownFields();
    operation.FindSubject(messages.get());
    const AuditedCall call = gate_->WithAudit(unary, context->peer(), operation.facts(), messages->subject);
    if (!operation.facts().source.empty()) {
      if (const absl::Status status = call.AllowAlso(messages->source); !status.ok()) return call.Finish(status);
    }
    const bool names_tables = operation.facts().plane == engine::Plane::kStatement;
    const absl::StatusOr<engine::Engine*> engine =
        names_tables ? absl::StatusOr<engine::Engine*>(call.ForStatements()) : call.Allow();
    if (!engine.ok()) return call.Finish(engine.status());
    const grpc::string_ref authority = context->ExperimentalGetAuthority();
    const Deadline deadline = MakeRequestContext(context, nullptr, {}).deadline;
    const auto allow = [caller = unary.caller(), work = std::make_shared<access::MatchWork>()](
                           const engine::NeededRight& right) { return caller.Allow(right, work.get()).status(); };
    OperationContext made{*engine, {authority.data(), authority.size()}, deadline};
    made.allow = allow;
    made.may_change_policy = [caller = unary.caller()](std::string_view arn, const access::ResourcePolicy& policy) {
      return caller.MayChangePolicy(arn, policy);
    };
    made.principal = unary.caller().principal();
    made.memory = unary.memory();
    operation.Start(made, *messages, [call, messages, &operation](absl::Status status) {
      bool owned = false;
      messages->response->DiscardUnknownFields();
      const bool may_refuse = OnlyRead(operation.facts(), ChangeSequenceOf(*messages->response));
      if (status.ok()) status = call.TakeMemory(messages->response->ByteSizeLong(), may_refuse);
      if (status.ok()) {
        grpc::GenericSerialize<grpc::ProtoBufferWriter, Message>(*messages->response, call.response(), &owned);
      }
      call.Finish(status);
    });
  };
  gate_->Admit(opened, operation.facts(), run);
}

}  // namespace armature::daemon
