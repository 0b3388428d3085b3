#include <grpcpp/generic/generic_stub.h>

#include "armature/client/errors.h"
#include "tools/bench/transport.h"

namespace armature::bench {
namespace {

// A call in flight. Its address is the tag of the call.
struct GrpcSlot {
  grpc::GenericStub* stub = nullptr;
  std::optional<grpc::ClientContext> context;  // gRPC needs a new one for each call
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader;
  grpc::ByteBuffer response;
  grpc::Status status;
};

class GrpcTransport final : public Transport {
 public:
  GrpcTransport(const Channels& channels, size_t slots) : slots_(slots) {
    for (const auto& channel : channels) stubs_.emplace_back(channel);
    for (size_t i = 0; i < slots; ++i) slots_[i].stub = &stubs_[i % stubs_.size()];
  }
  ~GrpcTransport() override {
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  void Start(size_t slot, const CallType& type, std::string_view request) override {
    GrpcSlot& call = slots_[slot];
    const grpc::Slice slice(request.data(), request.size());
    call.context.emplace();
    call.response.Clear();
    call.reader = call.stub->PrepareUnaryCall(&*call.context, "/" + type.service + "/" + type.operation,
                                              grpc::ByteBuffer(&slice, 1), &queue_);
    call.reader->StartCall();
    call.reader->Finish(&call.response, &call.status, &call);
  }

  std::optional<Outcome> Next(Clock::time_point give_up) override {
    void* tag = nullptr;
    bool ok = false;
    const auto deadline = std::chrono::system_clock::now() +
                          std::chrono::duration_cast<std::chrono::system_clock::duration>(give_up - Clock::now());
    if (queue_.AsyncNext(&tag, &ok, deadline) != grpc::CompletionQueue::GOT_EVENT) return std::nullopt;
    auto* const call = static_cast<GrpcSlot*>(tag);
    call->reader.reset();
    Outcome outcome;
    outcome.slot = static_cast<size_t>(call - slots_.data());
    outcome.length = call->response.Length();
    if (!call->status.ok()) {
      const absl::Status status = client::MakeCallStatus(static_cast<absl::StatusCode>(call->status.error_code()),
                                                         call->status.error_message(), call->status.error_details());
      outcome.error = client::ErrorName(status);
      outcome.error_text =
          "gRPC code " + std::to_string(call->status.error_code()) + ": " + call->status.error_message();
      if (outcome.error.empty()) outcome.error = outcome.error_text;
    }
    return outcome;
  }

  std::string Answer(size_t slot) const override {
    std::vector<grpc::Slice> slices;
    grpc::ByteBuffer copy = slots_[slot].response;
    std::string bytes;
    if (!copy.Dump(&slices).ok()) return bytes;
    for (const grpc::Slice& slice : slices) {
      bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    }
    return bytes;
  }

  void CancelAll() override {
    for (GrpcSlot& call : slots_) {
      if (call.reader != nullptr) call.context->TryCancel();
    }
  }

 private:
  grpc::CompletionQueue queue_;
  std::vector<grpc::GenericStub> stubs_;
  std::vector<GrpcSlot> slots_;
};

}  // namespace

std::unique_ptr<Transport> OverGrpc(const Channels& channels, size_t slots) {
  return std::make_unique<GrpcTransport>(channels, slots);
}

}  // namespace armature::bench
