#ifndef ARMATURE_TESTS_UNIT_DAEMON_RPC_RPC_SERVER_H_
#define ARMATURE_TESTS_UNIT_DAEMON_RPC_RPC_SERVER_H_

// A server with the methods of a test, its clients, and the events of its calls.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/http/http_server.h"
#include "daemon/rpc/rpc_call.h"
#include "daemon/rpc/rpc_front.h"
#include "storage/base/strings.h"
#include "tests/support/h2_client.h"
#include "tests/support/h2_socket.h"

namespace armature::daemon {

// ---- Bytes

// A message with gRPC's prefix.
inline std::string Framed(std::string_view message, char flag = 0) {
  return flag + BigEndian(static_cast<uint32_t>(message.size()), 4) + std::string(message);
}

// The whole messages in the data of an answer, and what follows them.
inline std::vector<std::string> Unframed(std::string_view bytes) {
  std::vector<std::string> messages;
  while (bytes.size() >= 5) {
    size_t size = 0;
    for (const char c : bytes.substr(1, 4)) size = size << 8 | static_cast<uint8_t>(c);
    if (bytes[0] != 0 || bytes.size() - 5 < size) break;
    messages.emplace_back(bytes.substr(5, size));
    bytes.remove_prefix(5 + size);
  }
  if (!bytes.empty()) messages.push_back(Cat("rest: ", bytes));
  return messages;
}

// Bytes that show a part that is missing or in a wrong place.
inline std::string Pattern(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + i / 251);
  return bytes;
}

inline std::string TextOf(std::string_view message) {
  return message.size() > 40 ? Cat(message.size(), " bytes") : std::string(message);
}

// ---- The server's side

// Things that have happened, in their order. Thread-safety: thread-safe.
class Events {
 public:
  void Add(std::string event) {
    const absl::MutexLock lock(&mutex_);
    events_.push_back(std::move(event));
  }
  std::vector<std::string> all() const {
    const absl::MutexLock lock(&mutex_);
    return events_;
  }
  bool Has(std::string_view event) const {
    const absl::MutexLock lock(&mutex_);
    return std::find(events_.begin(), events_.end(), event) != events_.end();
  }
  size_t size() const {
    const absl::MutexLock lock(&mutex_);
    return events_.size();
  }
  // Waits for the event. The bytes that it needs have been sent.
  void Await(std::string_view event) const {
    test::WaitUntil([&] { return Has(event); });
  }

 private:
  mutable absl::Mutex mutex_;
  std::vector<std::string> events_ ABSL_GUARDED_BY(mutex_);
};

// The handler of a call: notes what it is told, and does what the test has set.
class TestCall final : public RpcHandler {
 public:
  explicit TestCall(std::shared_ptr<RpcCall> of) : call(std::move(of)) {}

  void OnMessage(InMessage message) override {
    events.Add("message " + TextOf(message.bytes));
    if (on_message) on_message(std::move(message));
  }
  void OnReadEnd() override {
    events.Add("end");
    if (on_read_end) on_read_end();
  }
  void OnSent(uint32_t weight) override {
    events.Add(Cat("sent ", weight));
    if (on_sent) on_sent(weight);
  }
  void OnCancel() override {
    events.Add("cancel");
    if (on_cancel) on_cancel();
  }
  void OnDone() override { events.Add("done"); }

  const std::shared_ptr<RpcCall> call;
  Events events;
  // On the loop's thread. Set them before the first event.
  std::function<void(InMessage)> on_message;
  std::function<void()> on_read_end;
  std::function<void(uint32_t)> on_sent;
  std::function<void()> on_cancel;
};

class RpcServer {
 public:
  // Sets up a call that begins. On the loop's thread.
  using SetUp = std::function<void(TestCall&)>;

  explicit RpcServer(RpcLimits limits = {}) : front(std::move(limits)) {
    front.set_unknown([](const std::shared_ptr<RpcCall>& call) {
      call->Finish({.code = RpcCode::kUnimplemented, .message = "There is no such method"});
    });
    // Answers with the request.
    Add("/echo", [](TestCall& it) {
      it.on_message = [&it](InMessage message) {
        it.call->Finish(OutMessage{.head = {}, .bytes = std::move(message.bytes), .memory = std::move(message.memory)});
      };
      it.call->Read();
    });
    // Answers each message with itself.
    Add("/stream", [](TestCall& it) {
      it.on_message = [&it](InMessage message) {
        it.call->Write({.head = {}, .bytes = std::move(message.bytes), .memory = std::move(message.memory)});
        it.call->Read();
      };
      it.on_read_end = [&it] { it.call->Finish(RpcStatus()); };
      it.call->Read();
    });
    // Reads a message and leaves the call to the test.
    Add("/hold", [](TestCall& it) { it.call->Read(); });
    Add("/unread", [](TestCall&) {});
  }

  void Add(std::string_view path, SetUp set_up) {
    front.Add(path, [this, set_up = std::move(set_up)](const std::shared_ptr<RpcCall>& call) {
      auto made = std::make_shared<TestCall>(call);
      call->set_handler(made);
      set_up(*made);
      const absl::MutexLock lock(&mutex_);
      calls_.push_back(std::move(made));
    });
  }
  // Calls that have begun.
  size_t size() const {
    const absl::MutexLock lock(&mutex_);
    return calls_.size();
  }
  // Waits for the call with this number. The bytes that it needs have been sent.
  TestCall& call(size_t i) const {
    test::WaitUntil([&] { return size() > i; });
    const absl::MutexLock lock(&mutex_);
    return *calls_[i];
  }
  // Forgets the calls, which hold their handlers until then.
  void Forget() {
    const absl::MutexLock lock(&mutex_);
    calls_.clear();
  }

  const std::string& Start(HttpServerOptions options = {}) {
    options.door.router = &front;
    http = HttpServer::Start(options, &plain).value();
    return http->address();
  }

  class Plain final : public HttpHandler {
    void Handle(HttpRequest request, Done done) override { std::move(done)({.headers = {}, .body = request.body}); }
  };

  RpcFront front;
  Plain plain;

 private:
  mutable absl::Mutex mutex_;
  std::vector<std::shared_ptr<TestCall>> calls_ ABSL_GUARDED_BY(mutex_);

 public:
  std::unique_ptr<HttpServer> http;
};

// ---- The client's side

class RpcClient final : public test::H2Socket {
 public:
  using H2Socket::H2Socket;

  // Begins a call, of which Send and End of the client are parts unless it `is_whole`.
  int32_t Begin(std::string_view path, const H2Fields& metadata = {}, bool is_whole = false) {
    H2Fields fields = {{"content-type", "application/grpc"}, {"te", "trailers"}};
    fields.insert(fields.end(), metadata.begin(), metadata.end());
    return (*this)->Begin(path, is_whole, fields);
  }
  // Sends a whole call, whose request is `bytes`.
  int32_t CallWith(std::string_view path, std::string_view bytes, const H2Fields& metadata = {}) {
    const int32_t stream = Begin(path, metadata);
    (*this)->Send(stream, bytes);
    (*this)->End(stream);
    return stream;
  }
  int32_t Call(std::string_view path, std::string_view message, const H2Fields& metadata = {}) {
    return CallWith(path, Framed(message), metadata);
  }
  // Waits for the end of a call. "0", or "13 A text".
  std::string StatusOf(int32_t stream) {
    const H2Client::Answer& answer = Finish(stream);
    const std::string_view text = answer.Find("grpc-message");
    return Cat(answer.Find("grpc-status"), text.empty() ? "" : " ", text);
  }
  // The status, and the messages before it.
  std::string ResultOf(int32_t stream) {
    std::string result = StatusOf(stream);
    for (const std::string& message : Unframed((*this)->answer(stream).data)) result += Cat(", ", TextOf(message));
    return result;
  }
};

}  // namespace armature::daemon

#endif  // ARMATURE_TESTS_UNIT_DAEMON_RPC_RPC_SERVER_H_
