#include "daemon/grpc/guarded_call.h"

#include <utility>

#include "daemon/grpc/error_map.h"

namespace armature::daemon {

// A call as gRPC has handed it over, and its messages. gRPC frees the memory with the call.
class OpenedCall final : public grpc::MessageHolder<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  OpenedCall(const grpc::internal::MethodHandler::HandlerParameter& parameter, grpc::internal::MethodHandler* unary)
      : call_(parameter.call),
        context_(static_cast<grpc::CallbackServerContext*>(parameter.server_context)),
        call_requester_(parameter.call_requester),
        unary_(unary) {
    set_request(&request_);
    set_response(&response_);
  }
  void Release() override { this->~OpenedCall(); }

  const grpc::internal::Call& call() const { return *call_; }
  grpc::CallbackServerContext* context() const { return context_; }
  GuardedCall* reactor() const { return reactor_; }
  // Has gRPC take `reactor` for the call.
  void Bind(GuardedCall* reactor) {
    reactor_ = reactor;
    // The handler takes it back as such.
    auto* const messages = static_cast<grpc::MessageHolder<grpc::ByteBuffer, grpc::ByteBuffer>*>(this);
    unary_->RunHandler({call_, context_, nullptr, grpc::Status(), messages, std::move(call_requester_)});
  }

 private:
  grpc::internal::Call* const call_;
  grpc::CallbackServerContext* const context_;
  std::function<void()> call_requester_;
  grpc::internal::MethodHandler* const unary_;
  GuardedCall* reactor_ = nullptr;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

GuardedCall::GuardedCall(CallLedger* ledger, OpenedCall* opened)
    : TrackedCall(opened->context()),
      ledger_(ledger),
      opened_(opened),
      context_(opened->context()),
      call_(opened->call()),
      response_(opened->response()),
      share_({ledger->budget()}) {
  ledger_->Add(this);
}

void GuardedCall::ReadRequest(ReadDone done) {
  read_done_ = std::move(done);
  Set(CallPhase::kReading);
  read_tag_.Set(
      call_.call(), [this](bool ok) { OnReadDone(ok); }, &read_ops_, /*can_inline=*/false);
  read_ops_.RecvMessage(&request_);
  read_ops_.set_core_cq_tag(&read_tag_);
  call_.PerformOps(&read_ops_);
}

void GuardedCall::OnReadDone(bool ok) {
  Set(CallPhase::kRunning);
  // With the code of gRPC for a client that sends no request.
  grpc::Status status(grpc::StatusCode::UNIMPLEMENTED, "The call has no request");
  if (ok) status = ToGrpcStatus(ledger_->Received(*this, request_.Length()));
  if (!status.ok()) request_.Clear();
  ReadDone done = std::move(read_done_);
  const OnGrpcThread here;
  std::move(done)(status);
}

grpc::ByteBuffer GuardedCall::TakeRequest() {
  grpc::ByteBuffer taken;
  taken.Swap(&request_);
  return taken;
}

absl::Status GuardedCall::HoldRequest(size_t bytes) {
  if (!HeldMemory::Counts(bytes)) return absl::OkStatus();
  const BudgetClient client = Client();
  if (absl::Status room = ledger_->CheckRoom(client, bytes); !room.ok()) return room;
  share_.set_client(client);
  share_.Set(bytes);
  return absl::OkStatus();
}

absl::Status GuardedCall::TakeMemory(size_t bytes, bool may_refuse) {
  if (response_memory_.source().lender == nullptr) response_memory_ = HeldMemory(memory());
  if (response_memory_.Cover(bytes)) return absl::OkStatus();
  if (may_refuse) return ledger_->Refused();
  response_memory_.Set(bytes);
  return absl::OkStatus();
}

absl::Status GuardedCall::HoldResponse(bool may_refuse) {
  share_.Set(0);
  const size_t bytes = response_->Length();
  absl::Status taken = TakeMemory(bytes, may_refuse);
  if (!taken.ok()) response_->Clear();
  response_memory_.Set(response_->Length());
  return taken;
}

void GuardedCall::Park() { ledger_->Parked(*this); }

void GuardedCall::Begin() {
  if (std::exchange(has_begun_, true)) return;
  ledger_->Unparked(*this);
  opened_->Bind(this);
}

void GuardedCall::OnCancel() { ledger_->Cancelled(*this); }

void GuardedCall::End(const grpc::Status& status) {
  Begin();
  Set(CallPhase::kSending, response_->Length());
  if (OnGrpcThread::IsHere()) return Finish(status);
  end_status_ = status;
  if (!ledger_->relay()->Take(this, ledger_->busy())) EndNow();
}

// gRPC completes a batch without operations at once.
void GuardedCall::WakeForEnd() {
  wake_tag_.Set(
      call_.call(), [this](bool) { ledger_->relay()->Run(this); }, &wake_ops_, /*can_inline=*/false);
  wake_ops_.set_core_cq_tag(&wake_tag_);
  call_.PerformOps(&wake_ops_);
}

void GuardedCall::OnDone() {
  ledger_->Remove(this);
  delete this;
}

GuardedHandler::GuardedHandler(Open open)
    : open_(std::move(open)),
      unary_([](grpc::CallbackServerContext* context, const grpc::ByteBuffer*, grpc::ByteBuffer*) {
        return static_cast<const OpenedCall*>(context->GetRpcAllocatorState())->reactor();
      }) {}

void GuardedHandler::RunHandler(const HandlerParameter& parameter) {
  void* const memory =
      grpc::g_core_codegen_interface->grpc_call_arena_alloc(parameter.call->call(), sizeof(OpenedCall));
  const OnGrpcThread here;
  open_(new (memory) OpenedCall(parameter, &unary_));
}

}  // namespace armature::daemon
