#ifndef ARMATURE_TESTS_FUZZ_SERVED_CONNECTION_H_
#define ARMATURE_TESTS_FUZZ_SERVED_CONNECTION_H_

// One connection to a server whose event loop runs on the thread of the fuzzer: bytes in, bytes out, and what they
// cost.

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/http/http_server.h"
#include "daemon/http/io_loop.h"
#include "daemon/http/server_state.h"
#include "daemon/rpc/rpc_call.h"
#include "daemon/rpc/rpc_front.h"
#include "storage/base/strings.h"
#include "tests/fuzz/allocated_bytes.h"
#include "tests/fuzz/fuzz_util.h"

namespace armature::fuzz {

// ---- The server's side

// Answers with the sizes of what has arrived, so that answers are short and show what was understood.
class SizesHandler final : public daemon::HttpHandler {
 public:
  void Handle(daemon::HttpRequest request, Done done) override {
    size_t header_bytes = 0;
    for (const auto& header : request.headers) header_bytes += header.name.size() + header.value.size();
    std::move(done)(
        {.headers = {},
         .body = Cat(request.method, " ", request.target.size(), " ", header_bytes, " ", request.body.size())});
  }
};

// Answers one message, or each message, with itself.
class EchoCall final : public daemon::RpcHandler {
 public:
  // A call reserves addresses for a message whose size is there, and memory as the message arrives: the meter cannot
  // tell the two apart.
  static constexpr size_t kMessageBytesMax = 40'000;
  // Calls that are open.
  static inline int open = 0;

  EchoCall(std::shared_ptr<daemon::RpcCall> call, bool is_stream) : call_(std::move(call)), is_stream_(is_stream) {
    ++open;
  }
  ~EchoCall() override { --open; }
  EchoCall(const EchoCall&) = delete;
  EchoCall& operator=(const EchoCall&) = delete;

  void OnMessage(daemon::InMessage message) override {
    daemon::OutMessage answer{.head = {}, .bytes = std::move(message.bytes), .memory = std::move(message.memory)};
    if (!is_stream_) return call_->Finish(std::move(answer));
    call_->Write(std::move(answer));
    is_waiting_ = true;
    GoOn();
  }
  void OnReadEnd() override { call_->Finish(daemon::RpcStatus()); }
  void OnSent(uint32_t) override { GoOn(); }
  void OnDone() override { call_ = nullptr; }

 private:
  static constexpr size_t kUnsentMax = 8 << 10;

  void GoOn() {
    if (is_waiting_ && call_ != nullptr && call_->unsent_bytes() < kUnsentMax) {
      is_waiting_ = false;
      call_->Read();
    }
  }

  std::shared_ptr<daemon::RpcCall> call_;
  const bool is_stream_;
  bool is_waiting_ = false;
};

// Calls of "/u", with one message, of "/s", a stream of messages, and of methods that do not exist.
class EchoFront {
 public:
  EchoFront() : front_({.message_bytes_max = EchoCall::kMessageBytesMax}) {
    front_.set_unknown([](const std::shared_ptr<daemon::RpcCall>& call) {
      call->Finish({.code = daemon::RpcCode::kUnimplemented, .message = "There is no such method"});
    });
    for (const bool is_stream : {false, true}) {
      front_.Add(is_stream ? "/s" : "/u", [is_stream](const std::shared_ptr<daemon::RpcCall>& call) {
        call->set_handler(std::make_shared<EchoCall>(call, is_stream));
        call->Read(/*is_owed=*/!is_stream);
      });
    }
  }
  daemon::H2Router* router() { return &front_; }

 private:
  daemon::RpcFront front_;
};

// ---- The client's side

class ServedConnection {
 public:
  // Has `script` called with a new connection to `door`, within the server's loop, and checks that nothing is left of
  // it in the end.
  static void Run(daemon::HttpDoor door, const std::function<void(ServedConnection*)>& script) {
    SizesHandler handler;
    daemon::HttpServerOptions options;
    options.limits = {.line_bytes_max = 256, .head_bytes_max = 512, .body_bytes_max = 20'000};
    options.held_bytes_max = 1 << 20;
    const auto state = std::make_shared<daemon::ServerState>(options, &handler);
    const auto loop = std::make_shared<daemon::IoLoop>(state);
    const auto shared_door = std::make_shared<const daemon::HttpDoor>(std::move(door));
    boost::asio::post(loop->io(), [&] {
      {
        ServedConnection made(loop.get(), shared_door);
        script(&made);
        made.End();
      }
      loop->Abort();
    });
    loop->Run();
  }
  ServedConnection(const ServedConnection&) = delete;
  ServedConnection& operator=(const ServedConnection&) = delete;

  // Sends bytes, and lets the server do all that it has to do. Leaves out what the server does not take.
  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(client_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent <= 0) break;
      sent_ += static_cast<size_t>(sent);
      bytes.remove_prefix(static_cast<size_t>(sent));
      Settle();
    }
    Settle();
  }
  void EndSending() {
    shutdown(client_, SHUT_WR);
    Settle();
  }
  // All that the server has sent.
  std::string Receive() {
    std::string received;
    while (true) {
      std::array<char, 4096> part;
      const ssize_t got = recv(client_, part.data(), part.size(), MSG_DONTWAIT);
      if (got <= 0) break;
      received.append(part.data(), static_cast<size_t>(got));
      received_ += static_cast<size_t>(got);
      receiving_bytes_ = received.capacity();
      Settle();
    }
    receiving_bytes_ = 0;
    return received;
  }
  void Drain() {
    loop_->state().draining = true;
    loop_->Drain();
    Settle();
  }

  size_t sent() const { return sent_; }
  size_t received() const { return received_; }
  // The caller keeps so much that it has allocated since the connection was made.
  void set_own_bytes(size_t bytes) { own_bytes_ = bytes; }

 private:
  // Beside what the budget counts: a connection of HTTP/2 with its tables, the buffers of the loop.
  static constexpr int64_t kBytesMax = 64 << 10;
  static constexpr int64_t kLeftBytesMax = 64 << 10;

  ServedConnection(daemon::IoLoop* loop, std::shared_ptr<const daemon::HttpDoor> door) : loop_(loop) {
    std::array<int, 2> sockets = {-1, -1};
    Check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets.data()) == 0, "there are sockets");
    client_ = sockets[0];
    allocated_before_ = AllocatedBytes();
    loop_->state().connections.Add();
    Check(loop_->state().ledger->TryAdd(sockets[1], std::nullopt), "there is room for a connection");
    loop_->Adopt({.socket = sockets[1], .peer = "unix", .network = std::nullopt, .door = std::move(door)});
    Settle();
  }

  // Lets the loop run until it has nothing to do.
  void Settle() {
    ++settles_;
    for (int idle = 0; idle < 2;) {
      idle = loop_->io().poll_one() > 0 ? 0 : idle + 1;
      if (idle == 0) ++steps_;
      Check(steps_ <= 100 + 30 * settles_ + sent_ + received_, "work is bounded");
    }
    const size_t reserved = static_cast<size_t>(EchoCall::open) * EchoCall::kMessageBytesMax;
    const auto explained =
        static_cast<int64_t>(loop_->state().budget->held() + reserved + own_bytes_ + receiving_bytes_);
    Check(AllocatedBytes() - allocated_before_ <= kBytesMax + explained, "memory is bounded or counted");
  }

  // The client goes away.
  void End() {
    close(client_);
    Settle();
    const daemon::ServerState& state = loop_->state();
    Check(state.connections.value() == 0, "the connection has ended");
    Check(state.budget->held() == 0, "nothing is counted in the end");
    const auto own = static_cast<int64_t>(own_bytes_);
    Check(AllocatedBytes() - allocated_before_ <= kLeftBytesMax + own, "nothing is held in the end");
  }

  daemon::IoLoop* const loop_;
  int client_ = -1;
  int64_t allocated_before_ = 0;
  size_t own_bytes_ = 0;
  size_t receiving_bytes_ = 0;
  size_t sent_ = 0;
  size_t received_ = 0;
  size_t settles_ = 0;
  size_t steps_ = 0;
};

}  // namespace armature::fuzz

#endif  // ARMATURE_TESTS_FUZZ_SERVED_CONNECTION_H_
