#include "daemon/grpc/unary_service.h"

#include <utility>

#include "daemon/grpc/item_operations.h"
#include "storage/base/api_error.h"

namespace armature::daemon {

UnaryService::UnaryService(const CallGate* gate, RpcFront* front, std::span<const UnaryOperation> operations)
    : gate_(gate), front_(front), operations_(operations.begin(), operations.end()) {
  for (const UnaryOperation& each : operations_) {
    AddUnary(each.facts(),
             [this, &each](const UnaryCall& call, const std::string& request) { Run(each, call, request); });
  }
}

void UnaryService::AddUnary(const engine::Operation& operation, RunUnary run) {
  const auto shared = std::make_shared<const RunUnary>(std::move(run));
  front_->Add(operation.path, [gate = gate_, &operation, shared](const std::shared_ptr<RpcCall>& call) {
    // The front keeps it.
    gate->Admit(call, operation, [run = shared.get()](const UnaryCall& admitted, const std::string& request) {
      (*run)(admitted, request);
    });
  });
}

void UnaryService::Run(const UnaryOperation& operation, const UnaryCall& unary, const std::string& request) const {
  const std::shared_ptr<UnaryOperation::Messages> messages = operation.NewMessages();
  if (!messages->request->ParseFromString(request)) {
    return unary.Finish(SerializationError("The request cannot be read"));
  }
  messages->request->DiscardUnknownFields();
  operation.FindSubject(messages.get());
  const AuditedCall call = gate_->WithAudit(unary, operation.facts(), messages->subject);
  if (!operation.facts().source.empty()) {
    if (const absl::Status status = call.AllowAlso(messages->source); !status.ok()) return call.Finish(status);
  }
  const bool names_tables = operation.facts().plane == engine::Plane::kStatement;
  const absl::StatusOr<engine::Engine*> engine =
      names_tables ? absl::StatusOr<engine::Engine*>(call.ForStatements()) : call.Allow();
  if (!engine.ok()) return call.Finish(engine.status());
  const auto allow = [caller = unary.caller(), trace = unary.trace(),
                      work = std::make_shared<access::MatchWork>()](const engine::NeededRight& right) {
    if (trace != nullptr) trace->set_table(right.table);
    return caller.Allow(right, work.get()).status();
  };
  OperationContext made{*engine, unary.rpc()->authority(), DeadlineOf(*unary.rpc())};
  made.allow = allow;
  made.may_change_policy = [caller = unary.caller()](std::string_view arn, const access::ResourcePolicy& policy) {
    return caller.MayChangePolicy(arn, policy);
  };
  made.principal = unary.caller().principal();
  made.memory = unary.memory();
  operation.Start(made, *messages, [call, messages, &operation](const absl::Status& status) {
    if (!status.ok()) return call.Finish(status);
    messages->response->DiscardUnknownFields();
    const bool may_refuse = OnlyRead(operation.facts(), ChangeSequenceOf(*messages->response));
    const absl::Status taken = call.TakeMemory(messages->response->ByteSizeLong(), may_refuse);
    if (!taken.ok()) return call.Finish(taken);
    call.Finish(OutMessage{.head = {}, .bytes = messages->response->SerializeAsString()});
  });
}

}  // namespace armature::daemon
