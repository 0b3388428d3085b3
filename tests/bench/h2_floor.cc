// Cost of an operation on items over gRPC without a database: the daemon's transport, and RocksDB with the daemon's
// settings, with nothing of the data model between them. One thread writes what waits as one batch, synced, and ends
// the calls. FloorMethods says what the methods do. It is the lower bound of `put`, `batch`, `transact` and `pipeline`,
// and with --reads of `get`, `query` and `scan`. grpc_floor is the same on gRPC's own server library.
//
//   h2_floor --directory=DIR                            prints its address, and serves until SIGTERM
//   armature-bench --target=ADDRESS --workload=put
//
// armature-bench takes it for a daemon, so "times echo" is the floor of that column. DIR is created and must not exist:
// choose one on the disk to measure.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/api/item_messages.h"
#include "daemon/grpc/pipeline_stream.h"
#include "daemon/http/hint_front.h"
#include "daemon/http/http_server.h"
#include "daemon/rpc/rpc_call.h"
#include "daemon/rpc/rpc_front.h"
#include "daemon/rpc/rpc_status.h"
#include "storage/base/held_memory.h"
#include "tests/bench/floor_main.h"
#include "tests/bench/floor_methods.h"

namespace armature::bench {
namespace {

using daemon::InMessage;
using daemon::OutMessage;
using daemon::RpcCall;
using daemon::RpcCode;
using daemon::RpcHandler;

// A call with one request and one answer.
//
// Thread-safety: belongs to the thread of the call's loop. Lifetime: the call holds it.
class H2FloorCall final : public RpcHandler, public std::enable_shared_from_this<H2FloorCall> {
 public:
  // `serve` outlives the call.
  H2FloorCall(const FloorServe* serve, std::shared_ptr<RpcCall> call) : serve_(serve), call_(std::move(call)) {}

  void OnMessage(InMessage message) override {
    request_ = std::move(message);
    // For the end of the messages.
    call_->Read(/*is_owed=*/true);
  }

  void OnReadEnd() override {
    if (!request_.has_value()) return call_->Finish({.code = RpcCode::kInternal, .message = "The call has no request"});
    if (call_->IsLate()) return call_->Finish({.code = RpcCode::kResourceExhausted, .message = "Too many calls wait"});
    (*serve_)(std::move(request_->bytes),
              [call = call_](std::optional<std::string> answer) { Reply(call.get(), std::move(answer)); });
  }

 private:
  static void Reply(RpcCall* call, std::optional<std::string> answer) {
    if (!answer.has_value()) return call->Finish({.code = RpcCode::kInvalidArgument, .message = "unreadable"});
    OutMessage message{.head = {}, .bytes = *std::move(answer), .memory = HeldMemory(call->memory())};
    message.memory.Set(message.size());
    call->Finish(std::move(message));
  }

  const FloorServe* const serve_;
  const std::shared_ptr<RpcCall> call_;
  std::optional<InMessage> request_;
};

// A Pipeline stream: has the bytes of each request written as a row, and answers it when the row is durable, with as
// many at once as the daemon's stream. Nothing of a request is read but its number.
//
// Thread-safety: belongs to the thread of the call's loop. Lifetime: the call holds it.
class H2FloorPipeline final : public RpcHandler {
 public:
  // `serve` outlives the call.
  H2FloorPipeline(const FloorServe* serve, std::shared_ptr<RpcCall> call) : serve_(serve), call_(std::move(call)) {}

  void OnMessage(InMessage message) override {
    is_reading_ = false;
    ++open_;
    daemon::PipelineOperation operation;
    static_cast<void>(daemon::ParsePipelineRequest(message.bytes, &operation));
    (*serve_)(std::move(message.bytes), [call = call_, id = operation.id, number = operation.number](
                                            const std::optional<std::string>&) { Answer(call.get(), id, number); });
    GoOn();
  }
  void OnReadEnd() override {
    has_read_all_ = true;
    GoOn();
  }
  void OnSent(uint32_t weight) override {
    open_ -= weight;
    GoOn();
  }

  // Takes the next step, if there is one.
  void GoOn() {
    if (has_read_all_) {
      if (open_ == 0) call_->Finish(daemon::RpcStatus());
      return;
    }
    if (is_reading_ || open_ >= daemon::PipelineLimits().room) return;
    is_reading_ = true;
    call_->Read();
  }

 private:
  static void Answer(RpcCall* call, uint64_t id, uint32_t number) {
    OutMessage message;
    message.bytes = daemon::PipelineResponseHead(id, number, /*result_bytes=*/0);
    message.weight = 1;
    call->Write(std::move(message));
  }

  const FloorServe* const serve_;
  const std::shared_ptr<RpcCall> call_;
  uint32_t open_ = 0;  // requests without an answer that was sent
  bool is_reading_ = false;
  bool has_read_all_ = false;
};

class H2Floor final : public FloorServer {
 public:
  explicit H2Floor(const FloorMethods& methods) {
    for (const FloorMethods::Method& each : methods.unary) {
      front_.Add(each.path, [serve = &each.serve](const std::shared_ptr<RpcCall>& call) {
        call->set_handler(std::make_shared<H2FloorCall>(serve, call));
        call->Read(/*is_owed=*/true);
      });
    }
    front_.set_unknown([](const std::shared_ptr<RpcCall>& call) {
      call->Finish({.code = RpcCode::kUnimplemented, .message = "The floor has no such method"});
    });
    if (methods.pipeline == nullptr) return;
    front_.Add(kPipelinePath, [serve = &methods.pipeline](const std::shared_ptr<RpcCall>& call) {
      const auto stream = std::make_shared<H2FloorPipeline>(serve, call);
      call->set_handler(stream);
      stream->GoOn();
    });
  }

  absl::Status Start(const std::string& listen) {
    daemon::HttpServerOptions options;
    options.door.listen = listen;
    options.door.router = &front_;
    options.io_threads = std::max<size_t>(std::thread::hardware_concurrency(), 2);  // as the daemon
    absl::StatusOr<std::unique_ptr<daemon::HttpServer>> server = daemon::HttpServer::Start(options, &no_http_);
    if (server.ok()) server_ = *std::move(server);
    return server.status();
  }

  std::string address() const override { return server_->address(); }
  void Stop() override { server_->Stop(absl::ZeroDuration()); }

 private:
  daemon::HintFront no_http_{[] { return std::string("The floor serves gRPC."); }};
  daemon::RpcFront front_;
  std::unique_ptr<daemon::HttpServer> server_;
};

std::unique_ptr<FloorServer> StartH2Floor(const FloorMethods& methods, const std::string& listen) {
  auto floor = std::make_unique<H2Floor>(methods);
  const absl::Status started = floor->Start(listen);
  if (started.ok()) return floor;
  std::fprintf(stderr, "h2_floor: %s\n", started.ToString().c_str());
  return nullptr;
}

}  // namespace
}  // namespace armature::bench

int main(int argc, char** argv) {
  return armature::bench::FloorMain(argc, argv, "h2_floor", armature::bench::StartH2Floor);
}
