#include "tests/bench/grpc_floor_call.h"

#include <functional>
#include <string_view>
#include <utility>

#include "grpcpp/support/slice.h"

namespace armature::bench {
namespace {

// gRPC has called us on this thread.
thread_local bool is_grpc_thread = false;

class OnGrpcThread {
 public:
  OnGrpcThread() : was_here_(std::exchange(is_grpc_thread, true)) {}
  ~OnGrpcThread() { is_grpc_thread = was_here_; }
  OnGrpcThread(const OnGrpcThread&) = delete;
  OnGrpcThread& operator=(const OnGrpcThread&) = delete;

 private:
  const bool was_here_;
};

}  // namespace

std::string MessageBytes(const grpc::ByteBuffer& message) {
  grpc::Slice slice;
  // An empty message has no slice.
  if (!message.TrySingleSlice(&slice).ok() && !message.DumpToSingleSlice(&slice).ok()) return {};
  return std::string(reinterpret_cast<const char*>(slice.begin()), slice.size());
}

grpc::ByteBuffer TakeBytes(std::string bytes) {
  auto* const owned = new std::string(std::move(bytes));  // freed by the slice
  const grpc::Slice slice(
      owned->data(), owned->size(), [](void* data) { delete static_cast<std::string*>(data); }, owned);
  return grpc::ByteBuffer(&slice, 1);
}

bool GrpcFloorRelay::Take(GrpcFloorCall* call) {
  if (open_.load(std::memory_order_relaxed) < kCallsMin) return false;
  {
    const absl::MutexLock lock(&mutex_);
    if (is_waking_) {
      calls_.push_back(call);
      return true;
    }
    is_waking_ = true;
  }
  call->WakeForEnd();
  return true;
}

void GrpcFloorRelay::Run(GrpcFloorCall* woken) {
  std::vector<GrpcFloorCall*> calls;
  {
    const absl::MutexLock lock(&mutex_);
    is_waking_ = false;
    calls.swap(calls_);
  }
  const OnGrpcThread here;
  for (GrpcFloorCall* const call : calls) call->EndNow();
  // Last, because the caller belongs to it.
  woken->EndNow();
}

// The call's messages, too. gRPC frees the memory with the call.
class GrpcFloorOpened final : public grpc::MessageHolder<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  GrpcFloorOpened(const grpc::internal::MethodHandler::HandlerParameter& parameter,
                  grpc::internal::MethodHandler* unary)
      : call_(parameter.call),
        context_(static_cast<grpc::CallbackServerContext*>(parameter.server_context)),
        call_requester_(parameter.call_requester),
        unary_(unary) {
    set_request(&request_);
    set_response(&response_);
  }
  void Release() override { this->~GrpcFloorOpened(); }

  const grpc::internal::Call& call() const { return *call_; }
  GrpcFloorCall* reactor() const { return reactor_; }
  // Has gRPC take `reactor` for the call.
  void Bind(GrpcFloorCall* reactor) {
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
  GrpcFloorCall* reactor_ = nullptr;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

GrpcFloorCall::GrpcFloorCall(GrpcFloorRelay* relay, const FloorServe* serve, GrpcFloorOpened* opened)
    : relay_(relay), serve_(serve), opened_(opened), call_(opened->call()) {
  relay_->Opened();
}

void GrpcFloorCall::Start() {
  read_tag_.Set(
      call_.call(), [this](bool ok) { OnReadDone(ok); }, &read_ops_, /*can_inline=*/false);
  read_ops_.RecvMessage(&request_);
  read_ops_.set_core_cq_tag(&read_tag_);
  call_.PerformOps(&read_ops_);
}

void GrpcFloorCall::OnReadDone(bool ok) {
  const OnGrpcThread here;
  opened_->Bind(this);
  // With the code of gRPC for a client that sends no request.
  if (!ok) return End(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "The call has no request"));
  std::string request = MessageBytes(request_);
  request_.Clear();
  (*serve_)(std::move(request), [this](std::optional<std::string> answer) { Reply(std::move(answer)); });
}

void GrpcFloorCall::Reply(std::optional<std::string> answer) {
  if (!answer.has_value()) return End(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "unreadable"));
  *opened_->response() = TakeBytes(*std::move(answer));
  End(grpc::Status::OK);
}

void GrpcFloorCall::End(const grpc::Status& status) {
  if (is_grpc_thread) return Finish(status);
  end_status_ = status;
  if (!relay_->Take(this)) EndNow();
}

// gRPC completes a batch without operations at once.
void GrpcFloorCall::WakeForEnd() {
  wake_tag_.Set(
      call_.call(), [this](bool) { relay_->Run(this); }, &wake_ops_, /*can_inline=*/false);
  wake_ops_.set_core_cq_tag(&wake_tag_);
  call_.PerformOps(&wake_ops_);
}

void GrpcFloorCall::OnDone() {
  relay_->Closed();
  delete this;
}

GrpcFloorHandler::GrpcFloorHandler(GrpcFloorRelay* relay, const FloorServe* serve)
    : relay_(relay),
      serve_(serve),
      unary_([](grpc::CallbackServerContext* context, const grpc::ByteBuffer*, grpc::ByteBuffer*) {
        return static_cast<const GrpcFloorOpened*>(context->GetRpcAllocatorState())->reactor();
      }) {}

void GrpcFloorHandler::RunHandler(const HandlerParameter& parameter) {
  void* const memory =
      grpc::g_core_codegen_interface->grpc_call_arena_alloc(parameter.call->call(), sizeof(GrpcFloorOpened));
  auto* const opened = new (memory) GrpcFloorOpened(parameter, &unary_);
  (new GrpcFloorCall(relay_, serve_, opened))->Start();
}

}  // namespace armature::bench
