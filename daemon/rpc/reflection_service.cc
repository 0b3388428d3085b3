#include "daemon/rpc/reflection_service.h"

#include <atomic>
#include <cstdint>
#include <utility>

#include "daemon/rpc/rpc_status.h"
#include "google/protobuf/message.h"
#include "grpc/health/v1/health.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "grpc/reflection/v1alpha/reflection.pb.h"

namespace armature::daemon {
namespace {

constexpr size_t kReflectionRequestBytesMax = 64 << 10;
constexpr size_t kReflectionUnsentBytesMax = 32 << 10;

RpcStatus ReflectionError(RpcCode code, std::string text) {
  RpcStatus status;
  status.code = code;
  status.message = std::move(text);
  return status;
}

RpcStatus StreamIsCancelled() { return ReflectionError(RpcCode::kCancelled, "The client has gone"); }

// One stream. Thread-safety: belongs to the loop's thread, but for Answered. Lifetime: the call holds it, and outlives
// it until OnDone.
class ReflectionStream final : public RpcHandler, public std::enable_shared_from_this<ReflectionStream> {
 public:
  ReflectionStream(RpcCall* call, const std::vector<std::string>* services, DescriptorFiles* files)
      : call_(call), answers_(services, files) {}

  void Start(const std::shared_ptr<RpcCall>& call, const ReflectionService::Allow& allow) {
    if (allow == nullptr) return Begin();
    gate_ = Gate::kAsking;
    allow(call, [call, self = shared_from_this()](const absl::Status& status) { self->Answered(call, status); });
  }

  void OnMessage(InMessage message) override {
    is_reading_ = false;
    is_answering_ = true;
    if (message.bytes.size() > kReflectionRequestBytesMax) {
      return End(ReflectionError(RpcCode::kInvalidArgument, "the request is too large"));
    }
    Answer(message.bytes);
  }
  void OnReadEnd() override {
    has_read_all_ = true;
    GoOn();
  }
  void OnSent(uint32_t weight) override {
    unsent_bytes_ -= weight;
    GoOn();
  }
  // A call runs as long as its caller is looked up, and is counted until it has ended.
  void OnCancel() override {
    is_over_ = true;
    if (gate_.exchange(Gate::kCancelled) == Gate::kOpen) call_->Finish(StreamIsCancelled());
  }
  void OnDone() override { call_ = nullptr; }

 private:
  enum class Gate { kOpen, kAsking, kCancelled };

  // The caller is known, or not. On any thread.
  void Answered(const std::shared_ptr<RpcCall>& call, const absl::Status& status) {
    if (gate_.exchange(Gate::kOpen) == Gate::kCancelled) return call->Finish(StreamIsCancelled());
    if (!status.ok()) {
      return call->Finish(ReflectionError(RpcCode::kUnauthenticated, std::string(status.message())));
    }
    call->Post([self = shared_from_this()] { self->Begin(); });
  }

  void Answer(std::string_view request) {
    if (call_->IsLate()) return End(ReflectionError(RpcCode::kUnavailable, "the daemon has too much to do"));
    if (!answers_.Find(request)) return End(ReflectionError(RpcCode::kInvalidArgument, "the request is malformed"));
    OutMessage answer;
    answer.memory = HeldMemory(call_->memory());
    if (!answer.memory.TrySet(answers_.bytes_max())) {
      return End(ReflectionError(RpcCode::kResourceExhausted, "there is no memory for the answer"));
    }
    answer.bytes = answers_.Make();
    // A small answer takes more memory than its bytes.
    answer.weight = static_cast<uint32_t>(answer.bytes.size() + OutMessage::kOwnBytes);
    unsent_bytes_ += answer.weight;
    call_->Write(std::move(answer));
    is_answering_ = false;
    GoOn();
  }

  // The caller is known.
  void Begin() {
    is_allowed_ = true;
    GoOn();
  }

  // Reads the next request, if there is one and the client has read enough.
  void GoOn() {
    if (call_ == nullptr || !is_allowed_ || is_answering_ || is_over_) return;
    if (has_read_all_) return End({});
    if (is_reading_ || unsent_bytes_ > kReflectionUnsentBytesMax || (unsent_bytes_ > 0 && !HasRoom())) return;
    is_reading_ = true;
    call_->Read();
  }

  // Small answers take memory without being asked whether there is any.
  bool HasRoom() const { return HeldMemory(call_->memory()).TrySet(kReflectionUnsentBytesMax); }

  void End(RpcStatus status) {
    is_over_ = true;
    call_->Finish(std::move(status));
  }

  RpcCall* call_;  // null once it has ended
  std::atomic<Gate> gate_ = Gate::kOpen;
  ReflectionAnswers answers_;
  size_t unsent_bytes_ = 0;  // of answers
  bool is_allowed_ = false;
  bool is_reading_ = false;
  bool is_answering_ = false;  // has a request
  bool has_read_all_ = false;
  bool is_over_ = false;
};

}  // namespace

ReflectionService::ReflectionService(RpcFront* front, std::vector<std::string> services, Allow allow)
    : services_(std::move(services)), allow_(std::move(allow)) {
  // Their files must be found, also if nothing else uses their messages.
  google::protobuf::LinkMessageReflection<grpc::health::v1::HealthCheckRequest>();
  google::protobuf::LinkMessageReflection<grpc::reflection::v1::ServerReflectionRequest>();
  google::protobuf::LinkMessageReflection<grpc::reflection::v1alpha::ServerReflectionRequest>();
  for (const char* const method : {kMethod, kAlphaMethod}) {
    front->Add(method, [this](const std::shared_ptr<RpcCall>& call) { Open(call); });
  }
}

void ReflectionService::Open(const std::shared_ptr<RpcCall>& call) {
  const auto stream = std::make_shared<ReflectionStream>(call.get(), &services_, &files_);
  call->set_handler(stream);
  stream->Start(call, allow_);
}

}  // namespace armature::daemon
