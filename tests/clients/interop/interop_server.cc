// gRPC's grpc.testing.TestService on the daemon's transport, for the interop tests of gRPC's client libraries
// (https://github.com/grpc/grpc/blob/master/doc/interop-test-descriptions.md). Without compression, HalfDuplexCall and
// pauses between answers, which none of the cases uses.
//
//   interop_server                                      prints its address, and serves until SIGTERM

#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/time/time.h"
#include "daemon/http/h2_router.h"
#include "daemon/http/hint_front.h"
#include "daemon/http/http_server.h"
#include "daemon/rpc/rpc_call.h"
#include "daemon/rpc/rpc_front.h"
#include "daemon/rpc/rpc_status.h"
#include "google/protobuf/message_lite.h"
#include "grpc/testing/messages.pb.h"
#include "storage/base/held_memory.h"
#include "storage/base/strings.h"

namespace armature::interop {
namespace {

namespace rpc = grpc::testing;
using daemon::InMessage;
using daemon::OutMessage;
using daemon::RpcCall;
using daemon::RpcCode;
using daemon::RpcHandler;
using daemon::RpcStatus;

constexpr char kInitialName[] = "x-grpc-test-echo-initial";
constexpr char kTrailingName[] = "x-grpc-test-echo-trailing-bin";

// The head of the call that begins on this thread.
thread_local const daemon::H2Request* beginning = nullptr;

// A call of any method. Repeats the metadata of two names.
//
// Thread-safety: belongs to the thread of the call's loop. Lifetime: the call holds it.
class TestCall : public RpcHandler {
 public:
  explicit TestCall(std::shared_ptr<RpcCall> call) : call_(std::move(call)) {
    const std::string_view initial = beginning->Find(kInitialName);
    if (!initial.empty()) call_->set_metadata({{kInitialName, std::string(initial)}});
    // With padding or without.
    absl::Base64Unescape(Av(beginning->Find(kTrailingName)), &trailing_);
  }

 protected:
  RpcCall* call() const { return call_.get(); }
  OutMessage MessageOf(const google::protobuf::MessageLite& answer) const {
    OutMessage message{.head = {}, .bytes = answer.SerializeAsString(), .memory = HeldMemory(call_->memory())};
    message.memory.Set(message.size());
    return message;
  }
  RpcStatus StatusOf(const rpc::EchoStatus& wanted) const {
    const bool is_known = wanted.code() >= 0 && wanted.code() <= static_cast<int>(RpcCode::kUnauthenticated);
    RpcStatus status{.code = is_known ? static_cast<RpcCode>(wanted.code()) : RpcCode::kUnknown,
                     .message = wanted.message()};
    if (!trailing_.empty()) status.trailers.emplace_back(kTrailingName, trailing_);
    return status;
  }
  RpcStatus Success() const { return StatusOf(rpc::EchoStatus()); }
  void Refuse() {
    call_->Finish({.code = RpcCode::kInvalidArgument, .message = "The request is missing or malformed"});
  }

 private:
  const std::shared_ptr<RpcCall> call_;
  std::string trailing_;
};

// UnaryCall; and EmptyCall, since a request without fields has an answer without fields.
class UnaryCall final : public TestCall {
 public:
  using TestCall::TestCall;

  void OnMessage(InMessage message) override {
    request_.emplace();
    if (!request_->ParseFromString(message.bytes)) return Refuse();
    // For the end of the messages.
    call()->Read(/*is_owed=*/true);
  }
  void OnReadEnd() override {
    if (!request_.has_value()) return Refuse();
    if (request_->response_status().code() != 0) return call()->Finish(StatusOf(request_->response_status()));
    rpc::SimpleResponse response;
    if (request_->response_size() > 0) {
      response.mutable_payload()->mutable_body()->resize(static_cast<size_t>(request_->response_size()));
    }
    call()->Finish(MessageOf(response), Success());
  }

 private:
  std::optional<rpc::SimpleRequest> request_;
};

// StreamingInputCall: tells how much it was sent.
class InputCall final : public TestCall {
 public:
  using TestCall::TestCall;

  void OnMessage(InMessage message) override {
    rpc::StreamingInputCallRequest request;
    if (!request.ParseFromString(message.bytes)) return Refuse();
    sum_ += request.payload().body().size();
    call()->Read();
  }
  void OnReadEnd() override {
    rpc::StreamingInputCallResponse response;
    response.set_aggregated_payload_size(static_cast<int32_t>(sum_));
    call()->Finish(MessageOf(response), Success());
  }

 private:
  size_t sum_ = 0;
};

// StreamingOutputCall and FullDuplexCall: answers each request at once.
class OutputCall final : public TestCall {
 public:
  using TestCall::TestCall;

  void OnMessage(InMessage message) override {
    rpc::StreamingOutputCallRequest request;
    if (!request.ParseFromString(message.bytes)) return Refuse();
    if (request.response_status().code() != 0) return call()->Finish(StatusOf(request.response_status()));
    for (const rpc::ResponseParameters& wanted : request.response_parameters()) {
      rpc::StreamingOutputCallResponse response;
      response.mutable_payload()->mutable_body()->resize(static_cast<size_t>(wanted.size()));
      call()->Write(MessageOf(response));
    }
    call()->Read();
  }
  void OnReadEnd() override { call()->Finish(Success()); }
};

class TestService final : public daemon::H2Router {
 public:
  TestService() {
    Add<UnaryCall>("EmptyCall");
    Add<UnaryCall>("UnaryCall");
    Add<InputCall>("StreamingInputCall");
    Add<OutputCall>("StreamingOutputCall");
    Add<OutputCall>("FullDuplexCall");
    front_.set_unknown([](const std::shared_ptr<RpcCall>& call) {
      call->Finish({.code = RpcCode::kUnimplemented, .message = "There is no such method"});
    });
  }

  std::shared_ptr<daemon::StreamHandler> Open(daemon::H2Stream* stream, daemon::H2Request* request,
                                              const std::shared_ptr<const daemon::H2Peer>& peer,
                                              const std::shared_ptr<daemon::IoLoop>& loop) override {
    beginning = request;
    auto handler = front_.Open(stream, request, peer, loop);
    beginning = nullptr;
    return handler;
  }

 private:
  template <typename Call>
  void Add(std::string_view name) {
    front_.Add(Cat("/grpc.testing.TestService/", name), [](const std::shared_ptr<RpcCall>& call) {
      call->set_handler(std::make_shared<Call>(call));
      call->Read();
    });
  }

  daemon::RpcFront front_;
};

int Serve(const sigset_t& signals) {
  daemon::HintFront no_http([] { return std::string("This server speaks gRPC."); });
  TestService service;
  daemon::HttpServerOptions options;
  options.door.router = &service;
  const absl::StatusOr<std::unique_ptr<daemon::HttpServer>> server = daemon::HttpServer::Start(options, &no_http);
  if (!server.ok()) {
    std::fprintf(stderr, "interop_server: %s\n", server.status().ToString().c_str());
    return 1;
  }
  std::cout << (*server)->address() << std::endl;
  int signal = 0;
  sigwait(&signals, &signal);
  (*server)->Stop(absl::ZeroDuration());
  return 0;
}

}  // namespace
}  // namespace armature::interop

int main() {
  // Before the first thread, so that all have them blocked.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return armature::interop::Serve(signals);
}
