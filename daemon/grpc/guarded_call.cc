#include "daemon/grpc/guarded_call.h"

#include <utility>

namespace armature::daemon {

namespace {

// The messages of a call, and the way to read from it.
class CallMessages final : public grpc::MessageHolder<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit CallMessages(const grpc::internal::Call& own_call) : call(own_call) {
    set_request(&request_);
    set_response(&response_);
  }
  // gRPC frees the memory with the call.
  void Release() override { this->~CallMessages(); }

  const grpc::internal::Call call;

 private:
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

}  // namespace

GuardedCall::GuardedCall(CallLedger* ledger, grpc::CallbackServerContext* context, grpc::ByteBuffer* response)
    : TrackedCall(context),
      ledger_(ledger),
      call_(static_cast<const CallMessages*>(context->GetRpcAllocatorState())->call),
      response_(response),
      share_(ledger->budget()) {
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
  if (ok) ledger_->Received(*this, request_.Length());
  ReadDone done = std::move(read_done_);
  const OnGrpcThread here;
  std::move(done)(ok);
}

grpc::ByteBuffer GuardedCall::TakeRequest() {
  grpc::ByteBuffer taken;
  taken.Swap(&request_);
  return taken;
}

absl::Status GuardedCall::HoldRequest(size_t bytes) {
  if (!MemoryShare::Counts(bytes)) return absl::OkStatus();
  const BudgetClient client = Client();
  if (absl::Status room = ledger_->CheckRoom(client, bytes); !room.ok()) return room;
  share_.set_client(client);
  share_.Set(bytes);
  return absl::OkStatus();
}

absl::Status GuardedCall::HoldResponse(bool may_refuse) {
  const size_t bytes = response_->Length();
  if (MemoryShare::Counts(bytes)) {
    const BudgetClient client = Client();
    const absl::Status room = may_refuse ? ledger_->CheckRoom(client, bytes) : absl::OkStatus();
    if (!room.ok()) {
      response_->Clear();
      return room;
    }
    if (!share_.is_counted()) share_.set_client(client);
  }
  share_.Set(bytes);
  return absl::OkStatus();
}

void GuardedCall::End(const grpc::Status& status) {
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

GuardedHandler::GuardedHandler(Begin begin)
    : unary_([begin = std::move(begin)](grpc::CallbackServerContext* context, const grpc::ByteBuffer*,
                                        grpc::ByteBuffer* response) { return begin(context, response); }) {}

void GuardedHandler::RunHandler(const HandlerParameter& parameter) {
  void* const memory =
      grpc::g_core_codegen_interface->grpc_call_arena_alloc(parameter.call->call(), sizeof(CallMessages));
  auto* const messages = new (memory) CallMessages(*parameter.call);
  const OnGrpcThread here;
  unary_.RunHandler(HandlerParameter(parameter.call, parameter.server_context, nullptr, parameter.status, messages,
                                     parameter.call_requester));
}

}  // namespace armature::daemon
